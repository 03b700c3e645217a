// Every compressor that is offered: what it packs it opens, and never to more than is said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as zlib from 'node:zlib';
import { COMPRESSORS, pack, unpack } from './compression.js';
import { ProtocolError, writeMessage } from './message.js';

test('zstd is offered where Node has it', () => {
  const isOffered = COMPRESSORS.some(({ name }) => name === 'zstd');
  assert.equal(isOffered, 'zstdCompress' in zlib);
});

for (const compressor of COMPRESSORS) {
  test(`${compressor.name}: there and back, and bombs`, async () => {
    const message = writeMessage(7, 8, {
      document: Buffer.from('some text, some text '.repeat(5000)),
    });
    const packed = await pack(message, compressor);
    const unpacked = await unpack(packed);
    assert.equal(unpacked.compressor, compressor);
    assert.ok(unpacked.bytes.subarray(16).equals(message.subarray(16)));
    for (const size of [0, 100, message.length - 17, message.length - 15]) {
      packed.writeInt32LE(size, 20);
      await assert.rejects(unpack(packed), ProtocolError);
    }
    packed.writeInt32LE(message.length - 16, 20);
    await assert.rejects(unpack(packed, 1000), ProtocolError);
  });
}
