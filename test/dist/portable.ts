import type { BuildOptions } from 'esbuild'

/** How a bundle is made for any runtime. */
export const portable = {
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['import', 'module'],
  target: 'es2022',
  write: false,
  logLevel: 'silent',
} as const satisfies BuildOptions
