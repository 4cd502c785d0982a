/** Approximate membership filters: is this key in that set? No is certain; yes may be wrong, at a
 * rate that you choose. */

export * from './load.js';
import type { Library } from './load.js';

export const Filter: Library['Filter'];
export type Filter = InstanceType<Library['Filter']>;
export const kinds: Library['kinds'];
export const plan: Library['plan'];
export const plans: Library['plans'];
export const rates: Library['rates'];
export const version: Library['version'];
