import { readFile } from 'node:fs/promises'
import { assert } from '../support/suite.ts'
import { root } from './built.ts'

const page = 'docs/src/content/docs/reference/bundle-size.md'
const text = await readFile(root + page, 'utf8')

/** The rows of the page's tables: the measured entry, and its size in bytes. */
const rows = new Map(
  [...text.matchAll(/^\| (.+?) +\| ([\d.]+) kB +\|$/gm)].map(([, label = '', size]) => [label, Number(size) * 1_000]),
)

/** Asserts that the page lists this size to within 2%, or to within 0.15 kB for small sizes. */
export function assertListed(label: string, size: number): void {
  const listed = rows.get(label)
  assert.ok(listed !== undefined, `${page} has no row for ${label}`)
  const isClose = Math.abs(listed - size) <= Math.max(150, size * 0.02)
  assert.ok(isClose, `${page} lists ${listed / 1_000} kB for ${label}, but it is ${size} bytes`)
}

/** The imports that the page lists. */
export const listedImports = [...rows.keys()].flatMap((label) => /^`signalbox\/(.+)`$/.exec(label)?.[1] ?? [])
