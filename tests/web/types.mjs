/* types.mjs ROOT MODULE CLI: does TypeScript accept the types of the package, and refuse what they
 * forbid? */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install } from './shared/install.mjs';

const [root, folder] = process.argv.slice(2);
install(root, process.cwd());
const compiler = join(process.cwd(), 'node_modules', '.bin', 'tsc');
const done = spawnSync(compiler, ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext',
    '--moduleResolution', 'nodenext', '--lib', 'es2022,dom', join(folder, 'test', 'types.ts')],
{ encoding: 'utf8' });
console.log(done.stdout, done.stderr);
process.exit(done.status ?? 1);
