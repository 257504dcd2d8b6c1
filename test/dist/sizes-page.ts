import { readFile } from 'node:fs/promises'
import { assert } from '../support/suite.ts'
import { root } from './built.ts'

/** The rows of the tables in src/SIZES.md: what is measured, and its size in bytes. */
const rows = new Map(
  [...(await readFile(`${root}src/SIZES.md`, 'utf8')).matchAll(/^\| (.+?) +\| ([\d.]+) kB +\|$/gm)].map(
    ([, what = '', size]) => [what, Number(size) * 1_000],
  ),
)

/** Asserts that src/SIZES.md lists this size. It may differ by 2%, and small ones by 0.15 kB. */
export function assertListed(what: string, size: number): void {
  const listed = rows.get(what)
  assert.ok(listed !== undefined, `src/SIZES.md has no row for ${what}`)
  const isClose = Math.abs(listed - size) <= Math.max(150, size * 0.02)
  assert.ok(isClose, `src/SIZES.md says ${listed / 1_000} kB for ${what}, which has ${size} bytes`)
}

/** The imports that src/SIZES.md lists. */
export const listedImports = [...rows.keys()].flatMap((what) => /^`signalbox\/(.+)`$/.exec(what)?.[1] ?? [])
