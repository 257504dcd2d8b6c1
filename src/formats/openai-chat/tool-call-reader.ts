import { isObject, type JsonObject } from '../../lib/json.ts'
import { isNoArguments, objectText } from '../canonical/arguments.ts'
import type { AssistantPart, ToolCallPart } from '../canonical/parts.ts'
import type { OpaqueState } from '../canonical/state.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { calledMember, googleSignature } from './assistant-parse.ts'
import type { ChoiceContext } from './choice-reader.ts'
import { createObjectScan, type ObjectScan } from './object-scan.ts'

/** Reads tool calls out of deltas: several may be told at once, by an index that vendors get wrong in many ways. */
export interface ToolCallReader {
  observe(entry: JsonObject): void
  /** Closes the calls that are complete, since the answer goes on with something else. */
  closeComplete(): void
  end(): void
}

interface OpenCall {
  /** Its place in the order in which calls began. */
  order: number
  /** Undefined until its name is known. */
  key: number | undefined
  id: string
  name: string
  isFreeForm: boolean
  /** Of its arguments, what came before its name. */
  early: string
  hasArguments: boolean
  scan: ObjectScan
  /** `{}` or `null` that may be a placeholder in front of the arguments. */
  isHeld: boolean
  isClosed: boolean
  state: OpaqueState | undefined
}

export function createToolCallReader(
  { origin, newId, losses }: ChoiceContext,
  start: (part: AssistantPart) => number,
  emit: (event: ReaderEvent) => void,
): ToolCallReader {
  /** Those that are not closed, in the order in which they began: a stream may bring thousands. */
  const open = new Set<OpenCall>()
  /** Those of them whose arguments may be complete. Only these are looked at when the answer goes on, maybe thousands of times. */
  const complete = new Set<OpenCall>()
  let count = 0
  const lastByIndex = new Map<unknown, OpenCall>()
  const firstById = new Map<string, OpenCall>()
  let last: OpenCall | undefined
  const ids = new Set<string>()

  function observe(entry: JsonObject) {
    const kind = calledMember(entry)
    const callee = isObject(entry[kind]) ? entry[kind] : {}
    const id = text(entry.id)
    const name = text(callee.name)
    const more = fragment(kind === 'custom' ? callee.input : callee.arguments)
    const index = entry.index ?? undefined
    const call = callOf(index, { id, name, more }) ?? begin(index, kind === 'custom')
    call.id ||= id
    if (id !== '' && !firstById.has(id)) firstById.set(id, call)
    call.name ||= name
    sign(call, googleSignature(entry.extra_content))
    if (call.name !== '' && call.key === undefined) tell(call)
    add(call, more)
  }

  /** The call that an entry continues; undefined: a new one. */
  function callOf(
    index: unknown,
    { id, name, more }: { id: string; name: string; more: string },
  ): OpenCall | undefined {
    const found = index === undefined ? byIdOrLast(id) : lastByIndex.get(index)
    if (!found) return undefined
    const isOther = id !== '' && found.id !== '' && id !== found.id
    if (isOther && name !== '') return undefined // Ollama: every call has the index 0
    const isNamed = id === '' && name !== '' && found.name !== ''
    const isAnother = isNamed && (name !== found.name || (more.startsWith('{') && found.scan.isComplete()))
    return isAnother ? undefined : found
  }

  function byIdOrLast(id: string): OpenCall | undefined {
    return id === '' ? last : (firstById.get(id) ?? withoutId(last))
  }

  function begin(index: unknown, isFreeForm: boolean): OpenCall {
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

  function tell(call: OpenCall) {
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

  /** A signature may come behind the arguments. */
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

  /** What is held: nothing when the real arguments follow it, else no arguments. */
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
      complete.clear() // one that is not complete after all, or is not any more, has to end like one once again
      for (const call of inOrder) if (call.scan.isComplete()) close(call)
    },
    end() {
      for (const call of open) {
        if (call.key === undefined) {
          call.isClosed = true
          losses.dropped('tool_calls') // it never had a name, so nobody could run it
        }
        close(call)
      }
    },
  }
}

/** Could this piece be the last one of an object? */
const endsLikeObject = (piece: string) => piece.trimEnd().endsWith('}')

const withoutId = (call: OpenCall | undefined) => (call?.id === '' ? call : undefined)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Some vendors give the arguments as an object. */
const fragment = (value: unknown): string => (isObject(value) ? objectText(value) : text(value))
