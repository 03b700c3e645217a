// The tests every engine passes. Each engine's own test file calls this with a way to open it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { withContract } from './contract.js';
import { describeChanges } from './contract-changes.suite.js';
import { describeExpiry } from './contract-expiry.suite.js';
import { containerNamed, Fixture } from './contract-fixture.suite.js';
import { describeRestore } from './contract-restore.suite.js';
import { describeScans } from './contract-scans.suite.js';
import { describeTogether } from './contract-together.suite.js';
import { describeVersions } from './contract-versions.suite.js';
import { describeWrites } from './contract-writes.suite.js';
import type { Engine } from './engine.js';

export function describeEngine(name: string, open: () => Promise<Engine>): void {
  describe(`engine contract: ${name}`, () => {
    const f = new Fixture({} as Engine);
    before(async () => {
      f.engine = withContract(await open());
    });
    after(async () => {
      await f.engine.check();
      await f.engine.close();
    });
    beforeEach(async () => {
      f.box = containerNamed(f.newName('c'));
      await f.engine.createContainer(f.box);
    });
    describeWrites(f);
    describeTogether(f);
    describeScans(f);
    describeExpiry(f);
    describeChanges(f);
    describeVersions(f);
    describeRestore(f);

    test('containers are listed, altered and dropped with all they hold', async () => {
      await f.put('1');
      assert((await f.engine.containers()).some((container) => container.id === f.box.id));
      await f.engine.dropContainer(f.box.id);
      assert(!(await f.engine.containers()).some((container) => container.id === f.box.id));
      await f.engine.createContainer(f.box);
      assert.equal(await f.read('1'), undefined);
      assert.equal((await f.engine.stats(f.box)).items, 0);
    });
  });
}
