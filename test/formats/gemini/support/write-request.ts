import type { ToolCallPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { ToolResult, Turn, UserTurn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { prepareRequest } from '../../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import type { Traits } from '../../../../src/traits.ts'
import { contexts } from '../../support/contexts.ts'

/** Creates a text part. */
export const text = (text: string) => ({ type: 'text', text }) as const

/** The minimal request. */
export const QUESTION: UserTurn = { role: 'user', content: [text('q')] }

/** A request that contains only `QUESTION`. */
export const EMPTY: CanonicalRequest = {
  ...{ model: 'm', stream: false, streamUsage: false, turns: [QUESTION], tools: [], options: {} },
}

/** Prepares and writes a request for a provider. */
export function send(request: Partial<CanonicalRequest>, traits: Partial<Traits> = {}) {
  const { target, warnings } = contexts(geminiTranslator, { traits })
  const { supportedOptions } = geminiTranslator
  const { request: prepared } = prepareRequest({ ...EMPTY, ...request }, { ...target, supportedOptions })
  const { path, body } = geminiTranslator.writeRequest(prepared, target)
  return { path, body, warnings: warnings.list() }
}

/** Returns the `contents` that a provider receives for these turns. */
export const contents = (...turns: Turn[]) => send({ turns }).body.contents

/** Creates a call to the function `f`. */
export const call = (id: string, extra: Partial<ToolCallPart> = {}): ToolCallPart => ({
  ...{ type: 'tool-call', id, name: 'f', arguments: '{"a":1}' },
  ...extra,
})

/** Creates a call's result. */
export const result = (callId: string, content: ToolResult['content'], isError?: true): ToolResult => ({
  ...{ callId, content },
  ...(isError && { isError }),
})
