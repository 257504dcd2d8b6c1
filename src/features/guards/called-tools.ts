import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { getChoiceIndex } from './choices.ts'
import type { GuardPart } from './guard.ts'

/** A tool's name and arguments. The arguments are `undefined` if they aren't JSON. */
export interface ToolCall {
  readonly name: string
  readonly input: unknown
}

/** A complete tool call. Only guards with `checksCalls` get these parts. */
export interface CallPart extends GuardPart {
  readonly call: ToolCall
}

export const isCallPart = (part: GuardPart): part is CallPart => 'call' in part

export const createCallPart = (id: string, { name, input }: ToolCall): CallPart => ({
  ...{ id, role: 'assistant', kind: 'tool-call', isOlder: false },
  text: JSON.stringify(input) ?? 'undefined',
  call: { name, input },
})

/** A complete tool call and the choice it belongs to. */
export interface CompletedCall extends ToolCall {
  readonly choice: string
}

/** Finds the complete tool calls in a response or a stream event, in any format. */
export function findCalls(json: JsonObject): CompletedCall[] {
  const calls: CompletedCall[] = []
  function visit(value: unknown, choice: string) {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, choice)
      return
    }
    if (!isObject(value)) return
    const call = readCall(value)
    if (call) {
      calls.push({ ...call, choice })
      return
    }
    for (const [key, child] of Object.entries(value))
      if (value === json && (key === 'choices' || key === 'candidates') && Array.isArray(child))
        for (const item of child) visit(item, getChoiceIndex(item))
      else visit(child, choice)
  }
  visit(json, '')
  return calls
}

/** Reads an object with a tool's name and arguments. */
function readCall(object: JsonObject): ToolCall | undefined {
  const name = object.toolName ?? object.name
  const args = object.arguments ?? object.input ?? object.args
  if (typeof name !== 'string' || args === undefined || args === '') return undefined
  return { name, input: typeof args === 'string' ? tryParseJson(args) : args }
}

/** Joins tool calls that arrive in pieces, as in Chat Completions and Messages. */
export class CallJoiner {
  readonly #openCalls = new Map<string, { name: string; text: string; choice: string }>()

  /** Returns the calls that an event completes. `endedChoices` contains the choices that the event ends. */
  addEvent(json: JsonObject, endedChoices: ReadonlySet<string>): CompletedCall[] {
    const { type, index, content_block: block, delta, choices } = json
    if (type === 'content_block_start' && isObject(block) && typeof block.name === 'string') {
      const isComplete = isObject(block.input) && Object.keys(block.input).length > 0
      this.#add(`${index}`, { name: block.name, choice: '', ...(isComplete && { text: JSON.stringify(block.input) }) })
      return []
    }
    if (type === 'content_block_delta' && isObject(delta) && typeof delta.partial_json === 'string') {
      this.#add(`${index}`, { text: delta.partial_json, choice: '' })
      return []
    }
    if (type === 'content_block_stop') return this.#close((key) => key === `${index}`)
    if (!Array.isArray(choices) || !choices.some((choice) => isObject(choice) && isObject(choice.delta)))
      return findCalls(json)
    for (const choice of choices)
      if (isObject(choice) && isObject(choice.delta)) this.#addDelta(choice.delta, getChoiceIndex(choice))
    return this.#close((_, { choice }) => endedChoices.has(choice))
  }

  /** Returns the calls that are still incomplete when the stream ends. */
  flush(): CompletedCall[] {
    return this.#close(() => true)
  }

  #addDelta({ tool_calls: calls, function_call: legacyCall }: JsonObject, choice: string) {
    const toolCalls = Array.isArray(calls) ? calls.filter(isObject) : []
    for (const call of [...toolCalls, ...(isObject(legacyCall) ? [{ function: legacyCall }] : [])]) {
      const { index, function: functionCall, custom } = call as JsonObject
      const callDelta = isObject(functionCall) ? functionCall : isObject(custom) ? custom : {}
      const { name, arguments: args, input } = callDelta
      const text = args ?? input
      this.#add(`${choice},${index}`, {
        choice,
        ...(typeof name === 'string' && { name }),
        ...(typeof text === 'string' && { text }),
      })
    }
  }

  #add(key: string, { name = '', text = '', choice }: { name?: string; text?: string; choice: string }) {
    const call = this.#openCalls.get(key) ?? { name: '', text: '', choice }
    call.name += name
    call.text += text
    this.#openCalls.set(key, call)
  }

  #close(isClosed: (key: string, call: { choice: string }) => boolean): CompletedCall[] {
    const closedCalls = [...this.#openCalls].filter(([key, call]) => isClosed(key, call))
    for (const [key] of closedCalls) this.#openCalls.delete(key)
    return closedCalls.map(([, { name, text, choice }]) => ({
      name,
      choice,
      input: tryParseJson(text === '' ? '{}' : text),
    }))
  }
}
