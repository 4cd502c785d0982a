/* index.js - the library, ready to use: the module is beside this file, in Node and in browsers. */
import { load, moduleName } from './tamis.js';

const address = new URL(moduleName, import.meta.url);
const source = address.protocol === 'file:'
    ? import('node:fs/promises').then(files => files.readFile(address)) : fetch(address);

export { load, TamisError } from './tamis.js';
export const { Filter, kinds, plan, plans, rates, version } = await load(source);
