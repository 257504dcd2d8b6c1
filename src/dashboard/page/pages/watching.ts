/* The views in which something is watched, loaded together. */
export { default as playground } from './playground.tsx'
export { default as requests } from './requests.tsx'
export { default as usage } from './usage.tsx'
