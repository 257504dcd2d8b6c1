import type { BuildOptions } from 'esbuild'

/** The bundler options for a runtime-independent bundle. */
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
