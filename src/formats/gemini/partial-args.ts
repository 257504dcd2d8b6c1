import { isObject, type JsonObject } from '../../lib/json.ts'
import { isExactNumber } from '../canonical/exact-json.ts'

/** Puts the arguments of a call together out of pieces that each name their place. */
export interface PartialArgs {
  add(pieces: unknown): void
  /** All so far as JSON. */
  text(): string
}

/**
 * Vertex can stream arguments: `{ jsonPath: '$.a.b[0]', stringValue: '…', willContinue: true }`. A string may come in several pieces, every
 * other value is whole.
 */
export function createPartialArgs(): PartialArgs {
  const root = emptyObject()
  let continued: string | undefined // the path of the string that is not complete

  function put(piece: JsonObject) {
    const { jsonPath } = piece
    const value = valueIn(piece)
    if (typeof jsonPath !== 'string' || value === undefined) return
    const path = segmentsOf(jsonPath)
    const last = path.pop()
    if (last === undefined) return
    const holder = path.reduce<Container>(
      (container, segment, at) => childOf(container, segment, path[at + 1] ?? last),
      root,
    )
    const name = keyIn(holder, last)
    const before = continued === jsonPath ? holder[name] : undefined
    holder[name] = typeof before === 'string' && typeof value === 'string' ? before + value : value
    continued = piece.willContinue === true ? jsonPath : undefined
  }

  return {
    add(pieces) {
      if (Array.isArray(pieces)) for (const piece of pieces) if (isObject(piece)) put(piece)
    },
    text: () => JSON.stringify(root),
  }
}

/** An array is one too: its indices are names. */
type Container = { [name: string]: unknown }
type Segment = string | number

function valueIn(piece: JsonObject): unknown {
  const { stringValue, numberValue, boolValue } = piece
  if (typeof stringValue === 'string') return stringValue
  if (typeof numberValue === 'number' || isExactNumber(numberValue)) return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  return 'nullValue' in piece ? null : undefined
}

/** `$.a['b c'][0]`: the forms of RFC 9535 that name one place. */
function segmentsOf(path: string): Segment[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/g)].map(
    ([, name, index, single, double]) =>
      index === undefined ? (name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1')) : Number(index),
  )
}

function childOf(container: Container, segment: Segment, next: Segment): Container {
  const name = keyIn(container, segment)
  const child = container[name]
  if (isContainer(child)) return child
  const made = typeof next === 'number' ? ([] as unknown as Container) : emptyObject() // an array, by its indices
  container[name] = made
  return made
}

/** An index beyond the end of an array is its end, so that no path makes an array of millions of holes. */
function keyIn(container: Container, segment: Segment): string {
  return String(Array.isArray(container) && typeof segment === 'number' ? Math.min(segment, container.length) : segment)
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** Without a prototype, so that any name is only a name. */
const emptyObject = (): Container => Object.create(null)
