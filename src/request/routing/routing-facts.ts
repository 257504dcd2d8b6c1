import type { Condition, Pattern } from '../../types.ts'
import type { Group, GroupEntry } from './group.ts'

/**
 * The facts about a request that combos use to choose, computed on demand. They are functions, because an object with getters that is created per
 * request gets its own hidden class, which stays in memory longer than the object.
 */
export interface RequestFacts {
  /** The model name that the client sent. */
  model: string
  bytes: number
  isStreaming: boolean
  /** Returns whether the request has tools. */
  hasTools(): boolean
  /** Returns whether the request contains images. */
  hasImages(): boolean
  /** Returns the body's `metadata`. */
  getMetadata(): Readonly<Record<string, unknown>>
  header(name: string): string | undefined
  /** The owner of the session (`Caller.owner`). */
  owner: string
  /** Returns the session, which is the same for all requests in a conversation. */
  getSession(): string
  /** The combos' functions. Absent if no combo has any. */
  readonly functions: EntryFunctions | undefined
}

/** The functions of combos defined in code, for one request. */
export interface EntryFunctions {
  /** The entries that functions have excluded so far. */
  readonly excludedEntries: ReadonlySet<GroupEntry>
  /** Calls a group's functions. Rejects with `ROUTE_FAILED`. */
  evaluate(group: Group): Promise<void>
}

/**
 * Finds the first part of an entry's condition that a request doesn't meet, or `function` for a condition in code. Returns `undefined` if it meets
 * all parts.
 */
export const findUnmetPart = (facts: RequestFacts, entry: GroupEntry): string | undefined =>
  facts.functions?.excludedEntries.has(entry) ? 'function' : entry.when && findUnmetCondition(facts, entry.when)

/**
 * Finds the first part of the condition that a request doesn't meet, such as `tools` or `headers.x-team`. Returns `undefined` if it meets all parts.
 */
function findUnmetCondition(facts: RequestFacts, condition: Condition): string | undefined {
  const { model, bytes, stream, tools, images, headers, metadata } = condition
  if (model !== undefined && !matchesCondition(facts.model, model)) return 'model'
  if (bytes && (facts.bytes < (bytes.min ?? 0) || facts.bytes > (bytes.max ?? Number.POSITIVE_INFINITY))) return 'bytes'
  if (stream !== undefined && facts.isStreaming !== stream) return 'stream'
  if (tools !== undefined && facts.hasTools() !== tools) return 'tools'
  if (images !== undefined && facts.hasImages() !== images) return 'images'
  for (const [name, pattern] of Object.entries(headers ?? {}))
    if (!matchesCondition(facts.header(name.toLowerCase()), pattern)) return `headers.${name}`
  for (const [name, pattern] of Object.entries(metadata ?? {}))
    if (!matchesCondition(getMetadataText(facts.getMetadata(), name), pattern)) return `metadata.${name}`
  return undefined
}

function matchesCondition(value: string | undefined, pattern: Pattern): boolean {
  if (typeof pattern === 'boolean') return pattern === (value !== undefined)
  if (value === undefined) return false
  return typeof pattern === 'string'
    ? matchesPattern(value, pattern)
    : pattern.some((part) => matchesPattern(value, part))
}

/**
 * Returns whether the value matches the pattern, in which `*` matches any text. Compares the parts between the `*`s in linear time, because a regular
 * expression could take exponential time.
 */
export function matchesPattern(value: string, pattern: string): boolean {
  const [prefix = '', ...infixes] = pattern.split('*')
  const suffix = infixes.pop()
  if (suffix === undefined) return value === prefix
  if (!value.startsWith(prefix)) return false
  let position = prefix.length
  for (const infix of infixes) {
    const matchIndex = value.indexOf(infix, position)
    if (matchIndex < 0) return false
    position = matchIndex + infix.length
  }
  return value.length - position >= suffix.length && value.endsWith(suffix)
}

function getMetadataText(metadata: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined
  return value === undefined || typeof value === 'object' ? undefined : String(value)
}
