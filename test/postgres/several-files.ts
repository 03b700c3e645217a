// Runs test files one after the other in this process, each in a suite of its own, so that its
// hooks are for its own tests, and its server is closed before the next one starts.
import { basename } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) {
  await new Promise<void>((done) => {
    describe(basename(file), async () => {
      await import(pathToFileURL(file).href).finally(() => after(() => done()));
    });
  });
}
