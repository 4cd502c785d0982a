/* install.mjs - what npm brings for these tests: playwright-core, axe-core and TypeScript, into the folder
 * where a test runs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What package-lock.json names, once for each change of it. */
export function install(root, here) {
    const lock = join(root, 'tests', 'web', 'package-lock.json');
    const done = join(here, 'node_modules', 'installed');
    if (existsSync(done) && readFileSync(done).equals(readFileSync(lock)))
        return;
    for (const name of ['package.json', 'package-lock.json'])
        copyFileSync(join(root, 'tests', 'web', name), join(here, name));
    const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund',
        '--loglevel=error', '--fetch-retries=1'], { stdio: 'inherit' });
    assert.equal(status, 0, 'npm cannot install playwright-core, axe-core and TypeScript');
    copyFileSync(lock, done);
}
