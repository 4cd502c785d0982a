/* types.mjs ROOT MODULE CLI: does TypeScript accept the types of the package, and refuse what they
 * forbid? Skipped (77) unless 'make web-bench', which installs what the package is developed with,
 * has brought TypeScript. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[3];
const compiler = join(folder, 'node_modules', '.bin', 'tsc');
if (!existsSync(compiler)) {
    console.log('no TypeScript here');
    process.exit(77);
}
const done = spawnSync(compiler, ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext',
    '--moduleResolution', 'nodenext', '--lib', 'es2022,dom', '--types', '', join(folder, 'test', 'types.ts')],
{ encoding: 'utf8' });
console.log(done.stdout, done.stderr);
process.exit(done.status ?? 1);
