import { isObject, isTooDeep, type JsonObject } from '../../lib/json.ts'
import { argumentsText } from '../canonical/arguments.ts'
import { isExactNumber, parseOpaque } from '../canonical/exact-json.ts'
import { textIn } from '../canonical/values.ts'

/** A complete function call. */
export interface WholeCall {
  id: string | undefined
  name: string
  arguments: string
  signature: string | undefined
}

/** Assembles calls that come in several parts; most come in one. */
interface CallAssembler {
  /** Adds a part, and returns the calls that are complete with it. */
  take(part: JsonObject): WholeCall[]
  /** Ends the open call, if there is one, and returns it: the end of a call is not marked when another part, or none, follows. */
  flush(): WholeCall[]
}

/** Creates an assembler. `onNameless` is called for a call without a name. */
export function createCallAssembler(onNameless: () => void): CallAssembler {
  let open: (Omit<WholeCall, 'arguments'> & { args: PartialArgs }) | undefined

  function flush(): WholeCall[] {
    if (!open) return []
    const { args, ...call } = open
    open = undefined
    return [{ ...call, arguments: args.text() }]
  }

  function take({ functionCall, thoughtSignature }: JsonObject): WholeCall[] {
    if (!isObject(functionCall)) return []
    const { name, args, partialArgs, willContinue } = functionCall
    const before = name ? flush() : []
    const whole = { id: textIn(functionCall.id), signature: textIn(thoughtSignature) }
    if (typeof name === 'string' && name !== '') {
      if (willContinue !== true && partialArgs === undefined)
        return [...before, { ...whole, name, arguments: argumentsText(args) }]
      open = { ...whole, name, args: createPartialArgs() }
    } else if (!open) {
      if (Object.keys(functionCall).length > 0) onNameless()
      return before
    }
    open?.args.add(partialArgs)
    if (open) open.signature ??= whole.signature
    return willContinue === true ? before : [...before, ...flush()]
  }

  return { take, flush }
}

/** Assembles the arguments of a call from pieces that each name their place. */
interface PartialArgs {
  add(pieces: unknown): void
  /** The arguments so far, as JSON. */
  text(): string
}

/**
 * Assembles arguments that Vertex streams: `{ jsonPath: '$.a.b[0]', stringValue: '…', willContinue: true }`. A string may come in several
 * pieces, every other value is whole.
 */
function createPartialArgs(): PartialArgs {
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

/** An object, or an array, whose indices count as names. */
type Container = { [name: string]: unknown }
type Segment = string | number

function valueIn(piece: JsonObject): unknown {
  const { stringValue, numberValue, boolValue } = piece
  if (typeof stringValue === 'string') return stringValue
  if (typeof numberValue === 'number' || isExactNumber(numberValue)) return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  return 'nullValue' in piece ? null : undefined
}

/** The segments of a path such as `$.a['b c'][0]`, in the forms of RFC 9535 that name one place. */
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

/** The key for a segment. An index beyond the end of an array means its end, so that no path makes an array with millions of holes. */
function keyIn(container: Container, segment: Segment): string {
  return String(Array.isArray(container) && typeof segment === 'number' ? Math.min(segment, container.length) : segment)
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** Makes an object without a prototype, so that every name can be a key. */
const emptyObject = (): Container => Object.create(null)

/*
 * A function's result is an object in this format and a text in others. An object with nothing but `output`, `error` (Google's names) or
 * `result` stands for its content; any other object is the result itself.
 */

/** Parses a result into its text, and whether it is an error. */
export function parseResponse(response: JsonObject): { text: string; isError: boolean } {
  const name = wrapperOf(response)
  if (name !== undefined) return { text: textOf(response[name]), isError: name === 'error' }
  return { text: Object.keys(response).length === 0 ? '' : JSON.stringify(response), isError: false }
}

/** Writes a result as an object: the text itself when it is JSON of an object. Calls `refuse` when that nests deeper than a request may. */
export function writeResponse(text: string, isError: boolean, refuse: () => never): JsonObject {
  if (isError) return { error: text }
  if (text === '') return {}
  const mayBeJson = /^\s*[[{]/.test(text)
  if (mayBeJson && isTooDeep(text)) refuse()
  const value = mayBeJson ? parseOpaque(text) : undefined
  if (isObject(value) && wrapperOf(value) === undefined && Object.keys(value).length > 0) return value
  return { output: value ?? text }
}

function wrapperOf(response: JsonObject): 'output' | 'result' | 'error' | undefined {
  const [name, ...others] = Object.keys(response)
  return others.length === 0 && (name === 'output' || name === 'result' || name === 'error') ? name : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
