import { isObject, isTooDeep, type JsonObject } from '../../../lib/json.ts'
import { stringifyArguments } from '../canonical/canonical-arguments.ts'
import { readString } from '../canonical/canonical-values.ts'
import { isExactNumber, parseOpaque } from '../canonical/exact-json.ts'

/** A complete function call. */
export interface CompleteCall {
  id: string | undefined
  name: string
  arguments: string
  signature: string | undefined
}

/** Assembles calls that arrive in several parts. Most arrive in one. */
interface CallAssembler {
  /** Adds a part and returns the calls that it completes. */
  take(part: JsonObject): CompleteCall[]
  /** Ends the open call, if there is one, and returns it. A call may end without a marker, before another part or at the end. */
  flush(): CompleteCall[]
}

/** Creates an assembler. Calls `onNameless` for a call without a name. */
export function createCallAssembler(onNameless: () => void): CallAssembler {
  let open: (Omit<CompleteCall, 'arguments'> & { args: PartialArgs }) | undefined

  function flush(): CompleteCall[] {
    if (!open) return []
    const { args, ...call } = open
    open = undefined
    return [{ ...call, arguments: args.text() }]
  }

  function take({ functionCall, thoughtSignature }: JsonObject): CompleteCall[] {
    if (!isObject(functionCall)) return []
    const { name, args, partialArgs, willContinue } = functionCall
    const flushed = name ? flush() : []
    const call = { id: readString(functionCall.id), signature: readString(thoughtSignature) }
    if (typeof name === 'string' && name !== '') {
      if (willContinue !== true && partialArgs === undefined)
        return [...flushed, { ...call, name, arguments: stringifyArguments(args) }]
      open = { ...call, name, args: createPartialArgs() }
    } else if (!open) {
      if (Object.keys(functionCall).length > 0) onNameless()
      return flushed
    }
    open.args.add(partialArgs)
    open.signature ??= call.signature
    return willContinue === true ? flushed : [...flushed, ...flush()]
  }

  return { take, flush }
}

/** Assembles a call's arguments from pieces that contain their path. */
interface PartialArgs {
  add(pieces: unknown): void
  /** Returns the arguments so far, as JSON. */
  text(): string
}

/** Assembles arguments that Vertex streams: `{ jsonPath: '$.a.b[0]', stringValue: '…', willContinue: true }`. Only strings may come in pieces. */
function createPartialArgs(): PartialArgs {
  const root = createObject()
  let continued: string | undefined // the path of the incomplete string

  function put(piece: JsonObject) {
    const { jsonPath } = piece
    const value = readValue(piece)
    if (typeof jsonPath !== 'string' || value === undefined) return
    const path = parsePath(jsonPath)
    const last = path.pop()
    if (last === undefined) return
    const holder = path.reduce<Container>(
      (container, segment, index) => getChild(container, segment, path[index + 1] ?? last),
      root,
    )
    const name = toKey(holder, last)
    const previous = continued === jsonPath ? holder[name] : undefined
    holder[name] = typeof previous === 'string' && typeof value === 'string' ? previous + value : value
    continued = piece.willContinue === true ? jsonPath : undefined
  }

  return {
    add(pieces) {
      if (Array.isArray(pieces)) for (const piece of pieces) if (isObject(piece)) put(piece)
    },
    text: () => JSON.stringify(root),
  }
}

/** An object, or an array whose indices count as names. */
type Container = { [name: string]: unknown }
type Segment = string | number

function readValue(piece: JsonObject): unknown {
  const { stringValue, numberValue, boolValue } = piece
  if (typeof stringValue === 'string') return stringValue
  if (typeof numberValue === 'number' || isExactNumber(numberValue)) return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  return 'nullValue' in piece ? null : undefined
}

/** Parses a path such as `$.a['b c'][0]`, in the RFC 9535 forms that identify a single location. */
function parsePath(path: string): Segment[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/g)].map(
    ([, name, index, single, double]) =>
      index === undefined ? (name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1')) : Number(index),
  )
}

function getChild(container: Container, segment: Segment, next: Segment): Container {
  const name = toKey(container, segment)
  const child = container[name]
  if (isContainer(child)) return child
  const created = typeof next === 'number' ? ([] as unknown as Container) : createObject() // an array, whose indices count as names
  container[name] = created
  return created
}

/** Returns a segment's key. An index beyond an array's end refers to its end, so no path creates an array with millions of holes. */
function toKey(container: Container, segment: Segment): string {
  return String(Array.isArray(container) && typeof segment === 'number' ? Math.min(segment, container.length) : segment)
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** Creates an object without a prototype, so that any name can be a key. */
const createObject = (): Container => Object.create(null)

/*
 * A function's result is an object in this format and a string in others. If an object has only `output`, `error` (Google's names), or `result`, the
 * result is the content of that field. Any other object is the result itself.
 */

/** Parses a result into its text and an error flag. */
export function parseResponse(response: JsonObject): { text: string; isError: boolean } {
  const name = getWrapper(response)
  if (name !== undefined) return { text: toText(response[name]), isError: name === 'error' }
  return { text: Object.keys(response).length === 0 ? '' : JSON.stringify(response), isError: false }
}

/** Writes a result as an object: the parsed text if it is a JSON object. Calls `reject` if that object is nested deeper than a request may be. */
export function writeResponse(text: string, isError: boolean, reject: () => never): JsonObject {
  if (isError) return { error: text }
  if (text === '') return {}
  const mayBeJson = /^\s*[[{]/.test(text)
  if (mayBeJson && isTooDeep(text)) reject()
  const value = mayBeJson ? parseOpaque(text) : undefined
  if (isObject(value) && getWrapper(value) === undefined && Object.keys(value).length > 0) return value
  return { output: value ?? text }
}

function getWrapper(response: JsonObject): 'output' | 'result' | 'error' | undefined {
  const [name, ...others] = Object.keys(response)
  return others.length === 0 && (name === 'output' || name === 'result' || name === 'error') ? name : undefined
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
