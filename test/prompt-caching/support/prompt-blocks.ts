import { isObject, type JsonObject } from '../../../src/lib/json.ts'

/** A part of a prompt that a provider's cache treats as a unit. */
export interface Block {
  text: string
  tokens: number
  /** The lifetime of its breakpoint in ms, if it has one. */
  ttlMs?: number
  /** Whether it may have a breakpoint. */
  canHaveBreakpoint: boolean
}

/** Lists the blocks of a request in the order of the cached prefix. Breakpoints aren't part of a block's content. */
export type PromptReader = (body: object) => Block[]

export const countTokens = (text: string): number => Math.ceil(text.length / 4)

const toList = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []

const listTurns = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

const getTtlMs = (mark: JsonObject): number => (mark.ttl === '1h' ? 60 : 5) * 60_000

function createBlock(role: unknown, value: JsonObject, mark: unknown): Block {
  const text = `${role}${JSON.stringify(value)}`
  const { type, text: words, reasoningContent } = value
  const canHaveBreakpoint =
    typeof words === 'string'
      ? words.trim() !== ''
      : !reasoningContent && type !== 'thinking' && type !== 'redacted_thinking'
  return { text, tokens: countTokens(text), canHaveBreakpoint, ...(isObject(mark) && { ttlMs: getTtlMs(mark) }) }
}

const toMarkedBlock = (role: unknown, value: unknown): Block => {
  const { cache_control, ...rest } = Object(value)
  return createBlock(role, rest, cache_control)
}

export const readMessages: PromptReader = (body) => {
  const { tools, system, messages } = Object(body)
  return [
    ...toList(tools).map((tool) => toMarkedBlock('tool', tool)),
    ...toList(system).map((text) => toMarkedBlock('system', text)),
    ...listTurns(messages).flatMap(({ role, content }) => toList(content).map((item) => toMarkedBlock(role, item))),
  ]
}

/** A cache point belongs to the preceding block. */
function addPoints(role: unknown, values: unknown): Block[] {
  const blocks: Block[] = []
  for (const value of toList(values)) {
    const { cachePoint } = Object(value)
    const before = blocks.at(-1)
    if (!cachePoint) blocks.push(createBlock(role, Object(value), undefined))
    else if (before) before.ttlMs = getTtlMs(cachePoint)
    else throw new Error('A cache point is first in its list.')
  }
  return blocks
}

export const readConverse: PromptReader = (body) => {
  const { toolConfig, system, messages } = Object(body)
  return [
    ...addPoints('tool', Object(toolConfig).tools),
    ...addPoints('system', system),
    ...listTurns(messages).flatMap(({ role, content }) => addPoints(role, content)),
  ]
}

/** Reads Chat Completions requests, with `cache_control` or `prompt_cache_breakpoint` on parts. */
export const readChat: PromptReader = (body) => {
  const { tools, messages } = Object(body)
  return [
    ...toList(tools).map((tool) => createBlock('tool', Object(tool), undefined)),
    ...listTurns(messages).flatMap(({ role, content, ...others }) => [
      ...toList(content).map((part) => {
        const { cache_control, prompt_cache_breakpoint, ...rest } = Object(part)
        return createBlock(role, rest, cache_control ?? prompt_cache_breakpoint)
      }),
      ...(Object.keys(others).length > 0 ? [createBlock(role, others, undefined)] : []),
    ]),
  ]
}

/** Reads Responses requests. Instructions come before the input, and an item can have breakpoints anywhere. */
export const readResponses: PromptReader = (body) => {
  const { tools, instructions, input } = Object(body)
  return [
    createBlock('instructions', { tools: tools ?? [], instructions: instructions ?? '' }, undefined),
    ...toList(input).map((item) => {
      const text = JSON.stringify(item)
      const plain: JsonObject = JSON.parse(text.replace(/,"prompt_cache_breakpoint":\{[^}]*\}/g, ''))
      return createBlock('', plain, text.includes('"prompt_cache_breakpoint"') ? {} : undefined)
    }),
  ]
}

export const readGemini: PromptReader = (body) => {
  const { tools, systemInstruction, contents } = Object(body)
  return [
    createBlock('system', { systemInstruction, tools }, undefined),
    ...listTurns(contents).map((content) => createBlock('', content, undefined)),
  ]
}
