import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../../../lib/json-scan.ts'
import { isEmptyArguments, stringifyObject } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, ToolCallPart } from '../../canonical/canonical-parts.ts'
import type { OpaqueState } from '../../canonical/canonical-state.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { readStringOrEmpty } from '../../canonical/canonical-values.ts'
import type { ReaderContext } from '../../translator.ts'
import { getToolType, readGoogleSignature } from '../chat-fields.ts'

/** The context that all of a candidate's readers share. */
export interface StreamChoiceContext extends ReaderContext {
  candidate: number
  /** The next part key. All candidates share one numbering. */
  keys: { next: number }
}

/** Reads tool calls from deltas. Several calls can be open concurrently. The index should tell them apart, but many vendors set it incorrectly. */
interface ToolCallReader {
  observe(entry: JsonObject): void
  /** Closes the complete calls when another part of the response begins. */
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
  /** Arguments that arrived before the name. */
  earlyArguments: string
  hasArguments: boolean
  scan: ObjectScan
  /** True while the arguments are `{}` or `null`, which may be a placeholder for the real ones. */
  isPending: boolean
  isClosed: boolean
  state: OpaqueState | undefined
}

/** Creates a reader that emits one candidate's tool calls. `start` begins a part and returns its key. */
export function createToolCallReader(
  { origin, newId, responseWarnings }: StreamChoiceContext,
  start: (part: AssistantPart) => number,
  emit: (event: ReaderEvent) => void,
): ToolCallReader {
  /** Open calls in the order in which they began. A stream can have thousands. */
  const open = new Set<OpenCall>()
  /** Open calls whose arguments may be complete. `closeComplete` can run thousands of times and checks only these. */
  const complete = new Set<OpenCall>()
  let count = 0
  const lastByIndex = new Map<unknown, OpenCall>()
  const firstById = new Map<string, OpenCall>()
  let last: OpenCall | undefined
  const ids = new Set<string>()

  function observe(entry: JsonObject) {
    const kind = getToolType(entry)
    const callee = isObject(entry[kind]) ? entry[kind] : {}
    const id = readStringOrEmpty(entry.id)
    const name = readStringOrEmpty(callee.name)
    const input = kind === 'custom' ? callee.input : callee.arguments
    const piece = isObject(input) ? stringifyObject(input) : readStringOrEmpty(input) // some vendors send an object
    const index = entry.index ?? undefined
    const call = findCall(index, { id, name, piece }) ?? create(index, kind === 'custom')
    call.id ||= id
    if (id !== '' && !firstById.has(id)) firstById.set(id, call)
    call.name ||= name
    sign(call, readGoogleSignature(entry.extra_content))
    if (call.name !== '' && call.key === undefined) begin(call)
    add(call, piece)
  }

  function findCall(
    index: unknown,
    { id, name, piece }: { id: string; name: string; piece: string },
  ): OpenCall | undefined {
    const call = index === undefined ? findById(id) : lastByIndex.get(index)
    if (!call) return undefined
    const hasOtherId = id !== '' && call.id !== '' && id !== call.id
    if (hasOtherId && name !== '') return undefined // Ollama gives every call the index 0
    const isNamed = id === '' && name !== '' && call.name !== ''
    const isNew = isNamed && (name !== call.name || (piece.startsWith('{') && call.scan.isComplete()))
    return isNew ? undefined : call
  }

  function findById(id: string): OpenCall | undefined {
    if (id === '') return last
    return firstById.get(id) ?? (last?.id === '' ? last : undefined)
  }

  function create(index: unknown, isFreeForm: boolean): OpenCall {
    const call: OpenCall = {
      ...{ order: count++, key: undefined, id: '', name: '', isFreeForm },
      ...{ earlyArguments: '', hasArguments: false, scan: createObjectScan() },
      ...{ isPending: false, isClosed: false, state: undefined },
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
    const { earlyArguments: early } = call
    call.earlyArguments = ''
    add(call, early)
  }

  /** Sets a call's signature, which may arrive after the arguments. */
  function sign(call: OpenCall, data: string | undefined) {
    if (data === undefined || call.state || call.isClosed) return
    call.state = { origin, kind: 'thought-signature', data }
    if (call.key !== undefined) emit({ type: 'part-state', key: call.key, state: call.state })
  }

  function add(call: OpenCall, piece: string) {
    if (piece === '' || call.isClosed) return
    if (call.key === undefined) {
      call.earlyArguments += piece
      return
    }
    const isFirst = !call.hasArguments
    call.hasArguments = true
    if (call.isPending) release(call, piece.trimStart().startsWith('{'))
    call.scan.add(piece)
    if (piece.trimEnd().endsWith('}')) complete.add(call)
    if (isFirst && isEmptyArguments(piece) && !call.isFreeForm) {
      call.isPending = true
      return
    }
    emit({ type: 'part-delta', key: call.key, text: piece })
  }

  /** Drops a buffered placeholder if the real arguments follow. Otherwise, emits it as `{}`. */
  function release(call: OpenCall, isPlaceholder: boolean) {
    call.isPending = false
    if (isPlaceholder) call.scan = createObjectScan()
    else if (call.key !== undefined) emit({ type: 'part-delta', key: call.key, text: '{}' })
  }

  function close(call: OpenCall) {
    if (call.isClosed || call.key === undefined) return
    if (call.isPending) release(call, false)
    call.isClosed = true
    open.delete(call)
    complete.delete(call)
    emit({ type: 'part-end', key: call.key })
  }

  return {
    observe,
    closeComplete() {
      if (complete.size === 0) return
      const inOrder = [...complete].sort((a, b) => a.order - b.order)
      complete.clear() // an incomplete call is added again with its next `}`
      for (const call of inOrder) if (call.scan.isComplete()) close(call)
    },
    end() {
      for (const call of open) {
        if (call.key === undefined) {
          call.isClosed = true
          responseWarnings.recordDrop('tool_calls') // a client can't run a call without a name
        }
        close(call)
      }
    },
  }
}

/** Scans the JSON of an object that arrives in pieces. Each piece is scanned once, when `isComplete` is called or when many pieces are pending. */
interface ObjectScan {
  add(piece: string): void
  /** Returns whether the text is a single closed object with nothing before or after it. */
  isComplete(): boolean
}

function createObjectScan(): ObjectScan {
  let pendingPieces: string[] = []
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isClosed = false
  let isBroken = false // whether there is text before or after the object

  function scan(piece: string) {
    for (let index = 0; index < piece.length && !isBroken; index++) {
      const code = piece.charCodeAt(index)
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isInString = false
      } else if (depth === 0) {
        if (code === OPEN_BRACE && !isClosed) depth = 1
        else isBroken = code > SPACE
      } else if (code === QUOTE) isInString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) isClosed = --depth === 0
    }
  }

  function scanPending() {
    for (const piece of pendingPieces) scan(piece)
    pendingPieces = []
  }

  return {
    add(piece) {
      if (pendingPieces.push(piece) > MAX_PENDING_PIECES) scanPending()
    },
    isComplete() {
      scanPending()
      return isClosed && !isBroken
    },
  }
}

/** The number of unscanned pieces that triggers a scan. Most calls end after fewer. */
const MAX_PENDING_PIECES = 256

const SPACE = 0x20
