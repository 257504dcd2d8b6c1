import { hashOf } from './hash.ts'

/** Members that the management API shows with a record but that are not part of it: secrets, and observed facts such as health. */
const BESIDE: ReadonlySet<string> = new Set(['key', 'hint', 'error', 'warnings', 'health'])

/** Another odd factor than that of `hashOf`, under which other texts collide. */
const OTHER_FACTOR = 0x0100019d

/** The entity tag of a record as the management API shows it. It differs after each change of the shown members, and is the same in lists. */
export function revisionOf(record: object): string {
  const text = JSON.stringify(inOrder(Object.fromEntries(Object.entries(record).filter(([name]) => !BESIDE.has(name)))))
  return `"${[hashOf(text), hashOf(text, OTHER_FACTOR)].map((part) => part.toString(36)).join('-')}"`
}

/** The same JSON value with the members of its objects in one order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => [name, inOrder(inner)])
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)))
}
