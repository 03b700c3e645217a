// The table of who may talk to the control API.
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { type ErrorCode, MayflyError } from '../value/errors.js';
import { checkHost } from './host-guard.js';

const allowed = ['mayfly', 'Db.Example.com'];

const rows: readonly (readonly [IncomingHttpHeaders, ErrorCode | 'fine'])[] = [
  [{ host: 'localhost' }, 'fine'],
  [{ host: 'LocalHost:8081' }, 'fine'],
  [{ host: 'explorer.localhost:8081' }, 'fine'],
  [{ host: '127.0.0.1:8081' }, 'fine'],
  [{ host: '192.168.1.20' }, 'fine'],
  [{ host: '[::1]:8081' }, 'fine'],
  [{ host: '[fe80::1]' }, 'fine'],
  [{ host: 'mayfly:8081' }, 'fine'],
  [{ host: 'MAYFLY' }, 'fine'],
  [{ host: 'db.example.com' }, 'fine'],
  [{ ':authority': 'localhost:8081' }, 'fine'],
  [{ ':authority': 'evil.example', host: 'localhost' }, 'foreignHost'],
  [{}, 'foreignHost'],
  [{ host: '' }, 'foreignHost'],
  [{ host: 'evil.example:8081' }, 'foreignHost'],
  [{ host: 'notlocalhost' }, 'foreignHost'],
  [{ host: 'localhost.evil.example' }, 'foreignHost'],
  [{ host: 'localhost@evil.example' }, 'foreignHost'],
  [{ host: 'localhost:8081:1' }, 'foreignHost'],
  [{ host: 'localhost/evil.example' }, 'foreignHost'],
  [{ host: '127.0.0.1.evil.example' }, 'foreignHost'],
  [{ host: '127.1' }, 'foreignHost'],
  [{ host: '[::1' }, 'foreignHost'],
  [{ host: '[1.2.3.4]' }, 'foreignHost'],
  [{ host: 'sub.mayfly' }, 'foreignHost'],
  [{ host: 'localhost:8081', origin: 'http://localhost:8081' }, 'fine'],
  [{ host: 'localhost:8081', origin: 'https://LOCALHOST:8081' }, 'fine'],
  [{ host: '[::1]:8081', origin: 'http://[::1]:8081' }, 'fine'],
  [{ host: 'localhost', origin: 'http://localhost' }, 'fine'],
  [{ host: 'localhost', origin: 'http://localhost:80' }, 'fine'],
  [{ host: 'localhost:443', origin: 'https://localhost' }, 'fine'],
  [{ host: 'localhost:443', origin: 'http://localhost' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'http://localhost' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'http://localhost:3000' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'http://127.0.0.1:8081' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'http://evil.example' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'null' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: '' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'ftp://localhost:8081' }, 'foreignOrigin'],
  [{ host: 'localhost:8081', origin: 'http://localhost:8081/page' }, 'foreignOrigin'],
  [{ host: 'localhost', 'sec-fetch-site': 'same-origin' }, 'fine'],
  [{ host: 'localhost', 'sec-fetch-site': 'none' }, 'fine'],
  [{ host: 'localhost', 'sec-fetch-site': 'same-site' }, 'foreignOrigin'],
  [{ host: 'localhost', 'sec-fetch-site': 'cross-site' }, 'foreignOrigin'],
  [{ host: 'localhost', 'sec-fetch-site': 'same-origin, none' }, 'foreignOrigin'],
];

for (const [headers, expected] of rows) {
  test(`${JSON.stringify(headers)} is ${expected}`, () => {
    assert.equal(outcome(headers), expected);
  });
}

test('the refusal names the host without its port, ready for --allow-host', () => {
  assert.throws(() => checkHost({ host: 'evil.example:8081' }, []), /--allow-host evil\.example\./);
});

function outcome(headers: IncomingHttpHeaders): ErrorCode | 'fine' {
  try {
    checkHost(headers, allowed);
    return 'fine';
  } catch (error) {
    if (error instanceof MayflyError) return error.code;
    throw error;
  }
}
