import { estimateTokens } from '../formats/estimate-tokens.ts'
import type { Reply } from '../lib/exchange.ts'
import { attemptHeaders } from './attempt-record.ts'
import type { ModelRequest } from './model-request.ts'

/** The reply with an estimated number of tokens, for when no provider could count them. `x-signalbox-warning` says that it is one. */
export async function estimateReply({ call, format, report }: ModelRequest): Promise<Reply> {
  const translator = await format.loadTranslator()
  const tokens = estimateTokens(call.body)
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-signalbox-warning': 'estimated:input_tokens',
      ...attemptHeaders(report.steps),
    },
    body: JSON.stringify(translator.counter?.writeCount(tokens) ?? { input_tokens: tokens }),
  }
}
