/* The public types that all layers share; `src/index.ts` exports them all. */

export type * from './types/catalog.ts'
export type * from './types/combo.ts'
export type * from './types/host.ts'
export type * from './types/records.ts'
export type * from './types/rules.ts'
export type * from './types/storage.ts'
