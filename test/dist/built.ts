import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { assert } from '../support/suite.ts'

/** The repository root, with a trailing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Manifest {
  name: string
  exports: Record<string, string | Record<string, string>>
  bin: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

export const manifest: Manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** Lists the built files with this extension, as paths relative to `dist`. */
export function built(ending: string): string[] {
  assert.ok(existsSync(`${root}dist`), 'there is no build: npm run build')
  return readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending))
}

export function readBuilt(name: string): string {
  return readFileSync(`${root}dist/${name}`, 'utf8')
}
