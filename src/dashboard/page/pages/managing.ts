/* The views in which something is managed, loaded together: each alone would be smaller than what a request costs. */
export { default as cloud } from './cloud.tsx'
export { default as combos } from './combos.tsx'
export { default as keys } from './keys.tsx'
export { default as models } from './models.tsx'
export { default as settings } from './settings.tsx'
export { default as targets } from './targets.tsx'
