import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { entries } from '../../tsup.config.ts'
import { assert, skip } from '../support/suite.ts'

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Manifest {
  name: string
  exports: Record<string, string | Record<string, string>>
  bin: Record<string, string>
  dependencies: Record<string, string>
}

export const manifest: Manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** Entries whose source is not written yet: the build leaves them out. */
export const missing = Object.entries(entries).flatMap(([name, source]) => (existsSync(root + source) ? [] : [name]))

/** Skips, in the sight of all, what needs every entry. */
export function needAllEntries(): void {
  if (missing.length > 0) skip(`entries without a source: ${missing.join(', ')}`)
}

/** The built files with this ending, as paths from `dist`. */
export function built(ending: string): string[] {
  assert.ok(existsSync(`${root}dist`), 'there is no build: npm run build')
  return readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending))
}

export function readBuilt(name: string): string {
  return readFileSync(`${root}dist/${name}`, 'utf8')
}
