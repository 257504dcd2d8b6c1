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
  keys: { nextKey: number }
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
  callId: string
  name: string
  isFreeForm: boolean
  /** Arguments that arrived before the name. */
  earlyArguments: string
  hasArguments: boolean
  scanner: ObjectScanner
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
  const openCalls = new Set<OpenCall>()
  /** Open calls whose arguments may be complete. `closeComplete` can run thousands of times and checks only these. */
  const completeCalls = new Set<OpenCall>()
  let count = 0
  const lastByIndex = new Map<unknown, OpenCall>()
  const firstById = new Map<string, OpenCall>()
  let lastCall: OpenCall | undefined
  const usedIds = new Set<string>()

  function observe(entry: JsonObject) {
    const kind = getToolType(entry)
    const definition = isObject(entry[kind]) ? entry[kind] : {}
    const id = readStringOrEmpty(entry.id)
    const name = readStringOrEmpty(definition.name)
    const input = kind === 'custom' ? definition.input : definition.arguments
    const delta = isObject(input) ? stringifyObject(input) : readStringOrEmpty(input) // some vendors send an object
    const index = entry.index ?? undefined
    const call = findCall(index, { id, name, delta }) ?? createCall(index, kind === 'custom')
    call.callId ||= id
    if (id !== '' && !firstById.has(id)) firstById.set(id, call)
    call.name ||= name
    setSignature(call, readGoogleSignature(entry.extra_content))
    if (call.name !== '' && call.key === undefined) beginCall(call)
    addArguments(call, delta)
  }

  function findCall(
    index: unknown,
    { id, name, delta }: { id: string; name: string; delta: string },
  ): OpenCall | undefined {
    const call = index === undefined ? findById(id) : lastByIndex.get(index)
    if (!call) return undefined
    const hasOtherId = id !== '' && call.callId !== '' && id !== call.callId
    if (hasOtherId && name !== '') return undefined // Ollama gives every call the index 0
    const repeatsName = id === '' && name !== '' && call.name !== ''
    const isNew = repeatsName && (name !== call.name || (delta.startsWith('{') && call.scanner.isComplete()))
    return isNew ? undefined : call
  }

  function findById(id: string): OpenCall | undefined {
    if (id === '') return lastCall
    return firstById.get(id) ?? (lastCall?.callId === '' ? lastCall : undefined)
  }

  function createCall(index: unknown, isFreeForm: boolean): OpenCall {
    const call: OpenCall = {
      ...{ order: count++, key: undefined, callId: '', name: '', isFreeForm },
      ...{ earlyArguments: '', hasArguments: false, scanner: createObjectScanner() },
      ...{ isPending: false, isClosed: false, state: undefined },
    }
    openCalls.add(call)
    lastByIndex.set(index, call)
    lastCall = call
    return call
  }

  function beginCall(call: OpenCall) {
    const id = call.callId !== '' && !usedIds.has(call.callId) ? call.callId : `call_${newId()}`
    usedIds.add(id)
    const part: ToolCallPart = { type: 'tool-call', id, name: call.name, arguments: '' }
    if (call.isFreeForm) part.isFreeForm = true
    if (call.state) part.state = call.state
    call.key = start(part)
    const { earlyArguments } = call
    call.earlyArguments = ''
    addArguments(call, earlyArguments)
  }

  /** Sets a call's signature, which may arrive after the arguments. */
  function setSignature(call: OpenCall, data: string | undefined) {
    if (data === undefined || call.state || call.isClosed) return
    call.state = { origin, kind: 'thought-signature', data }
    if (call.key !== undefined) emit({ type: 'part-state', key: call.key, state: call.state })
  }

  function addArguments(call: OpenCall, delta: string) {
    if (delta === '' || call.isClosed) return
    if (call.key === undefined) {
      call.earlyArguments += delta
      return
    }
    const isFirst = !call.hasArguments
    call.hasArguments = true
    if (call.isPending) releasePlaceholder(call, delta.trimStart().startsWith('{'))
    call.scanner.add(delta)
    if (delta.trimEnd().endsWith('}')) completeCalls.add(call)
    if (isFirst && isEmptyArguments(delta) && !call.isFreeForm) {
      call.isPending = true
      return
    }
    emit({ type: 'part-delta', key: call.key, text: delta })
  }

  /** Drops a buffered placeholder if the real arguments follow. Otherwise, emits it as `{}`. */
  function releasePlaceholder(call: OpenCall, isPlaceholder: boolean) {
    call.isPending = false
    if (isPlaceholder) call.scanner = createObjectScanner()
    else if (call.key !== undefined) emit({ type: 'part-delta', key: call.key, text: '{}' })
  }

  function closeCall(call: OpenCall) {
    if (call.isClosed || call.key === undefined) return
    if (call.isPending) releasePlaceholder(call, false)
    call.isClosed = true
    openCalls.delete(call)
    completeCalls.delete(call)
    emit({ type: 'part-end', key: call.key })
  }

  return {
    observe,
    closeComplete() {
      if (completeCalls.size === 0) return
      const orderedCalls = [...completeCalls].sort((a, b) => a.order - b.order)
      completeCalls.clear() // an incomplete call is added again with its next `}`
      for (const call of orderedCalls) if (call.scanner.isComplete()) closeCall(call)
    },
    end() {
      for (const call of openCalls) {
        if (call.key === undefined) {
          call.isClosed = true
          responseWarnings.recordDrop('tool_calls') // a client can't run a call without a name
        }
        closeCall(call)
      }
    },
  }
}

/** Scans the JSON of an object that arrives in pieces. Each piece is scanned once, when `isComplete` is called or when many pieces are pending. */
interface ObjectScanner {
  add(delta: string): void
  /** Returns whether the text is a single closed object with nothing before or after it. */
  isComplete(): boolean
}

function createObjectScanner(): ObjectScanner {
  let pendingDeltas: string[] = []
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isClosed = false
  let hasExtraText = false // whether there is text before or after the object

  function scan(delta: string) {
    for (let index = 0; index < delta.length && !hasExtraText; index++) {
      const code = delta.charCodeAt(index)
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isInString = false
      } else if (depth === 0) {
        if (code === OPEN_BRACE && !isClosed) depth = 1
        else hasExtraText = code > SPACE
      } else if (code === QUOTE) isInString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) isClosed = --depth === 0
    }
  }

  function scanPending() {
    for (const delta of pendingDeltas) scan(delta)
    pendingDeltas = []
  }

  return {
    add(delta) {
      if (pendingDeltas.push(delta) > MAX_PENDING_DELTAS) scanPending()
    },
    isComplete() {
      scanPending()
      return isClosed && !hasExtraText
    },
  }
}

/** The number of unscanned pieces that triggers a scan. Most calls end after fewer. */
const MAX_PENDING_DELTAS = 256

const SPACE = 0x20
