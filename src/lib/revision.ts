import { hashText } from './hash.ts'

/** Fields that the management API adds to records: secrets, and observed facts such as health. */
const ADDED_FIELDS: ReadonlySet<string> = new Set(['key', 'hint', 'error', 'warnings', 'health'])

/** An odd factor other than the default of `hashText`, so the two hashes collide for different strings. */
const SECOND_FACTOR = 0x0100019d

/** Returns a record's entity tag in the management API. It changes whenever a shown field changes, and is the same in lists. */
export function getRevision(record: object): string {
  const text = JSON.stringify(
    sortMembers(Object.fromEntries(Object.entries(record).filter(([name]) => !ADDED_FIELDS.has(name)))),
  )
  return `"${[hashText(text), hashText(text, SECOND_FACTOR)].map((hash) => hash.toString(36)).join('-')}"`
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => [name, sortMembers(inner)])
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)))
}
