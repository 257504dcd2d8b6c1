import type { ToolCallPart } from '../../../../src/formats/canonical/parts.ts'
import { prepareRequest } from '../../../../src/formats/canonical/prepare/prepare.ts'
import type { CanonicalRequest } from '../../../../src/formats/canonical/request.ts'
import type { ToolResult, Turn, UserTurn } from '../../../../src/formats/canonical/turns.ts'
import { geminiTranslator } from '../../../../src/formats/gemini/translator.ts'
import type { Traits } from '../../../../src/traits.ts'
import { contexts } from '../../support/contexts.ts'

/** A text part. */
export const text = (words: string) => ({ type: 'text', text: words }) as const

/** The least that a request can ask. */
export const QUESTION: UserTurn = { role: 'user', content: [text('q')] }

/** A request that asks QUESTION and nothing else. */
export const EMPTY: CanonicalRequest = {
  ...{ model: 'm', stream: false, streamUsage: false, turns: [QUESTION], tools: [], options: {} },
}

/** As a provider gets it: prepared, then written. */
export function send(request: Partial<CanonicalRequest>, traits: Partial<Traits> = {}) {
  const { target, warnings } = contexts(geminiTranslator, { traits })
  const { carries } = geminiTranslator
  const { request: prepared } = prepareRequest({ ...EMPTY, ...request }, { ...target, carries })
  const { path, body } = geminiTranslator.writeRequest(prepared, target)
  return { path, body, warnings: warnings.list() }
}

/** The `contents` that a provider gets for turns. */
export const contents = (...turns: Turn[]) => send({ turns }).body.contents

/** A call of the function `f`. */
export const call = (id: string, extra: Partial<ToolCallPart> = {}): ToolCallPart => ({
  ...{ type: 'tool-call', id, name: 'f', arguments: '{"a":1}' },
  ...extra,
})

/** The result of a call. */
export const result = (callId: string, content: ToolResult['content'], isError?: true): ToolResult => ({
  ...{ callId, content },
  ...(isError && { isError }),
})
