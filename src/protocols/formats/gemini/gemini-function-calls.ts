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
  addPart(part: JsonObject): CompleteCall[]
  /** Ends the open call, if there is one, and returns it. A call may end without a marker, before another part or at the end. */
  flush(): CompleteCall[]
}

/** Creates an assembler. Calls `onNameless` for a call without a name. */
export function createCallAssembler(onNameless: () => void): CallAssembler {
  let openCall: (Omit<CompleteCall, 'arguments'> & { args: PartialArgs }) | undefined

  function flush(): CompleteCall[] {
    if (!openCall) return []
    const { args, ...call } = openCall
    openCall = undefined
    return [{ ...call, arguments: args.getText() }]
  }

  function addPart({ functionCall, thoughtSignature }: JsonObject): CompleteCall[] {
    if (!isObject(functionCall)) return []
    const { name, args, partialArgs, willContinue } = functionCall
    const flushedCalls = name ? flush() : []
    const call = { id: readString(functionCall.id), signature: readString(thoughtSignature) }
    if (typeof name === 'string' && name !== '') {
      if (willContinue !== true && partialArgs === undefined)
        return [...flushedCalls, { ...call, name, arguments: stringifyArguments(args) }]
      openCall = { ...call, name, args: createPartialArgs() }
    } else if (!openCall) {
      if (Object.keys(functionCall).length > 0) onNameless()
      return flushedCalls
    }
    openCall.args.add(partialArgs)
    openCall.signature ??= call.signature
    return willContinue === true ? flushedCalls : [...flushedCalls, ...flush()]
  }

  return { addPart, flush }
}

/** Assembles a call's arguments from pieces that contain their path. */
interface PartialArgs {
  add(deltas: unknown): void
  /** Returns the arguments so far, as JSON. */
  getText(): string
}

/** Assembles arguments that Vertex streams: `{ jsonPath: '$.a.b[0]', stringValue: '…', willContinue: true }`. Only strings may come in pieces. */
function createPartialArgs(): PartialArgs {
  const root = createObject()
  let continuedPath: string | undefined // the path of the incomplete string

  function applyDelta(delta: JsonObject) {
    const { jsonPath } = delta
    const value = readValue(delta)
    if (typeof jsonPath !== 'string' || value === undefined) return
    const path = parsePath(jsonPath)
    const lastSegment = path.pop()
    if (lastSegment === undefined) return
    const container = path.reduce<Container>(
      (container, segment, index) => getChild(container, segment, path[index + 1] ?? lastSegment),
      root,
    )
    const name = toKey(container, lastSegment)
    const previousValue = continuedPath === jsonPath ? container[name] : undefined
    container[name] = typeof previousValue === 'string' && typeof value === 'string' ? previousValue + value : value
    continuedPath = delta.willContinue === true ? jsonPath : undefined
  }

  return {
    add(deltas) {
      if (Array.isArray(deltas)) for (const delta of deltas) if (isObject(delta)) applyDelta(delta)
    },
    getText: () => JSON.stringify(root),
  }
}

/** An object, or an array whose indices count as names. */
type Container = { [name: string]: unknown }
type Segment = string | number

function readValue(delta: JsonObject): unknown {
  const { stringValue, numberValue, boolValue } = delta
  if (typeof stringValue === 'string') return stringValue
  if (typeof numberValue === 'number' || isExactNumber(numberValue)) return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  return 'nullValue' in delta ? null : undefined
}

/** Parses a path such as `$.a['b c'][0]`, in the RFC 9535 forms that identify a single location. */
function parsePath(path: string): Segment[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/g)].map(
    ([, name, index, singleQuoted, doubleQuoted]) =>
      index === undefined ? (name ?? (singleQuoted ?? doubleQuoted ?? '').replace(/\\(.)/g, '$1')) : Number(index),
  )
}

function getChild(container: Container, segment: Segment, nextSegment: Segment): Container {
  const name = toKey(container, segment)
  const child = container[name]
  if (isContainer(child)) return child
  const newChild = typeof nextSegment === 'number' ? ([] as unknown as Container) : createObject() // an array, whose indices count as names
  container[name] = newChild
  return newChild
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
  const wrapper = getWrapperName(response)
  if (wrapper !== undefined) return { text: toText(response[wrapper]), isError: wrapper === 'error' }
  return { text: Object.keys(response).length === 0 ? '' : JSON.stringify(response), isError: false }
}

/** Writes a result as an object: the parsed text if it is a JSON object. Calls `reject` if that object is nested deeper than a request may be. */
export function writeResponse(text: string, isError: boolean, reject: () => never): JsonObject {
  if (isError) return { error: text }
  if (text === '') return {}
  const mayBeJson = /^\s*[[{]/.test(text)
  if (mayBeJson && isTooDeep(text)) reject()
  const value = mayBeJson ? parseOpaque(text) : undefined
  if (isObject(value) && getWrapperName(value) === undefined && Object.keys(value).length > 0) return value
  return { output: value ?? text }
}

function getWrapperName(response: JsonObject): 'output' | 'result' | 'error' | undefined {
  const [name, ...otherNames] = Object.keys(response)
  return otherNames.length === 0 && (name === 'output' || name === 'result' || name === 'error') ? name : undefined
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
