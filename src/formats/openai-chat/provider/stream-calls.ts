import { isObject, type JsonObject } from '../../../lib/json.ts'
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../../lib/json-scan.ts'
import { isNoArguments, objectText } from '../../canonical/arguments.ts'
import type { AssistantPart, ToolCallPart } from '../../canonical/parts.ts'
import type { OpaqueState } from '../../canonical/state.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import type { ReadContext } from '../../translator.ts'
import { googleSignature, memberInUse } from '../fields.ts'

/** What the readers of one candidate of a stream share. */
export interface StreamChoiceContext extends ReadContext {
  candidate: number
  /** Parts are numbered over all candidates. */
  keys: { next: number }
}

/** Reads tool calls from deltas. Several may be open at once, distinguished by an index that vendors set wrongly in many ways. */
interface ToolCallReader {
  observe(entry: JsonObject): void
  /** Closes the calls that are complete, when the answer goes on with another part. */
  closeComplete(): void
  end(): void
}

interface OpenCall {
  /** The number of calls that began before this one. */
  order: number
  /** Undefined until the name is known. */
  key: number | undefined
  id: string
  name: string
  isFreeForm: boolean
  /** The arguments that came before the name. */
  early: string
  hasArguments: boolean
  scan: ObjectScan
  /** Are the arguments so far `{}` or `null`, which may be a placeholder before the real ones? */
  isHeld: boolean
  isClosed: boolean
  state: OpaqueState | undefined
}

/** Creates a reader that emits the calls of one candidate; `start` begins a part and returns its key. */
export function createToolCallReader(
  { origin, newId, responseWarnings }: StreamChoiceContext,
  start: (part: AssistantPart) => number,
  emit: (event: ReaderEvent) => void,
): ToolCallReader {
  /** The calls that are not closed, in the order in which they began; a stream may have thousands. */
  const open = new Set<OpenCall>()
  /** The open calls whose arguments may be complete: only these are checked when the answer goes on, maybe thousands of times. */
  const complete = new Set<OpenCall>()
  let count = 0
  const lastByIndex = new Map<unknown, OpenCall>()
  const firstById = new Map<string, OpenCall>()
  let last: OpenCall | undefined
  const ids = new Set<string>()

  function observe(entry: JsonObject) {
    const kind = memberInUse(entry)
    const callee = isObject(entry[kind]) ? entry[kind] : {}
    const id = textOrEmpty(entry.id)
    const name = textOrEmpty(callee.name)
    const more = argumentsPiece(kind === 'custom' ? callee.input : callee.arguments)
    const index = entry.index ?? undefined
    const call = callOf(index, { id, name, more }) ?? create(index, kind === 'custom')
    call.id ||= id
    if (id !== '' && !firstById.has(id)) firstById.set(id, call)
    call.name ||= name
    sign(call, googleSignature(entry.extra_content))
    if (call.name !== '' && call.key === undefined) begin(call)
    add(call, more)
  }

  /** The call that an entry continues; undefined if the entry begins a new one. */
  function callOf(
    index: unknown,
    { id, name, more }: { id: string; name: string; more: string },
  ): OpenCall | undefined {
    const found = index === undefined ? byIdOrLast(id) : lastByIndex.get(index)
    if (!found) return undefined
    const isOther = id !== '' && found.id !== '' && id !== found.id
    if (isOther && name !== '') return undefined // every call of Ollama has the index 0
    const isNamed = id === '' && name !== '' && found.name !== ''
    const isAnother = isNamed && (name !== found.name || (more.startsWith('{') && found.scan.isComplete()))
    return isAnother ? undefined : found
  }

  function byIdOrLast(id: string): OpenCall | undefined {
    return id === '' ? last : (firstById.get(id) ?? ifWithoutId(last))
  }

  function create(index: unknown, isFreeForm: boolean): OpenCall {
    const call: OpenCall = {
      ...{ order: count++, key: undefined, id: '', name: '', isFreeForm },
      ...{ early: '', hasArguments: false, scan: createObjectScan() },
      ...{ isHeld: false, isClosed: false, state: undefined },
    }
    open.add(call)
    lastByIndex.set(index, call)
    last = call
    return call
  }

  function begin(call: OpenCall) {
    const id = call.id !== '' && !ids.has(call.id) ? call.id : `call_${newId()}`
    ids.add(id)
    const part: ToolCallPart = { type: 'tool-call', id, name: call.name, arguments: '' }
    if (call.isFreeForm) part.isFreeForm = true
    if (call.state) part.state = call.state
    call.key = start(part)
    const { early } = call
    call.early = ''
    add(call, early)
  }

  /** Sets the signature of a call, which may come after the arguments. */
  function sign(call: OpenCall, data: string | undefined) {
    if (data === undefined || call.state || call.isClosed) return
    call.state = { origin, kind: 'thought-signature', data }
    if (call.key !== undefined) emit({ type: 'part-state', key: call.key, state: call.state })
  }

  function add(call: OpenCall, more: string) {
    if (more === '' || call.isClosed) return
    if (call.key === undefined) {
      call.early += more
      return
    }
    const isFirst = !call.hasArguments
    call.hasArguments = true
    if (call.isHeld) release(call, more.trimStart().startsWith('{'))
    call.scan.add(more)
    if (endsLikeObject(more)) complete.add(call)
    if (isFirst && isNoArguments(more) && !call.isFreeForm) {
      call.isHeld = true
      return
    }
    emit({ type: 'part-delta', key: call.key, text: more })
  }

  /** Drops a held placeholder if the real arguments follow, else emits it as `{}`. */
  function release(call: OpenCall, isPlaceholder: boolean) {
    call.isHeld = false
    if (isPlaceholder) call.scan = createObjectScan()
    else if (call.key !== undefined) emit({ type: 'part-delta', key: call.key, text: '{}' })
  }

  function close(call: OpenCall) {
    if (call.isClosed || call.key === undefined) return
    if (call.isHeld) release(call, false)
    call.isClosed = true
    open.delete(call)
    complete.delete(call)
    emit({ type: 'part-end', key: call.key })
  }

  return {
    observe,
    closeComplete() {
      if (complete.size === 0) return
      const inOrder = [...complete].sort((one, other) => one.order - other.order)
      complete.clear() // a call that is not complete returns with its next `}`
      for (const call of inOrder) if (call.scan.isComplete()) close(call)
    },
    end() {
      for (const call of open) {
        if (call.key === undefined) {
          call.isClosed = true
          responseWarnings.noteDropped('tool_calls') // without a name it cannot be run
        }
        close(call)
      }
    },
  }
}

/** May this piece be the last one of an object? */
const endsLikeObject = (piece: string) => piece.trimEnd().endsWith('}')

const ifWithoutId = (call: OpenCall | undefined) => (call?.id === '' ? call : undefined)

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A piece of arguments; some vendors send an object instead of text. */
const argumentsPiece = (value: unknown): string => (isObject(value) ? objectText(value) : textOrEmpty(value))

/** Follows the JSON of an object that comes in pieces. It keeps pieces until `isComplete` is called or there are many, and scans each once. */
interface ObjectScan {
  add(piece: string): void
  /** Is the text one closed object, with nothing after it? */
  isComplete(): boolean
}

function createObjectScan(): ObjectScan {
  let waiting: string[] = []
  let depth = 0
  let isText = false
  let isEscaped = false
  let isClosed = false
  let isBroken = false // there is text before or after the object

  function scan(piece: string) {
    for (let at = 0; at < piece.length && !isBroken; at++) {
      const code = piece.charCodeAt(at)
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isText = false
      } else if (depth === 0) {
        if (code === OPEN_BRACE && !isClosed) depth = 1
        else isBroken = code > SPACE
      } else if (code === QUOTE) isText = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) isClosed = --depth === 0
    }
  }

  function scanWaiting() {
    for (const piece of waiting) scan(piece)
    waiting = []
  }

  return {
    add(piece) {
      if (waiting.push(piece) > MAX_WAITING) scanWaiting()
    },
    isComplete() {
      scanWaiting()
      return isClosed && !isBroken
    },
  }
}

/** Most calls end after fewer pieces than this, so that they are never scanned. */
const MAX_WAITING = 256

const SPACE = 0x20
