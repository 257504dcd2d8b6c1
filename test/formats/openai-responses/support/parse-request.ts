import { responsesTranslator } from '../../../../src/formats/openai-responses/translator.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from './streams.ts'

/** Parses a request for a response, with the input `a` unless its body has its own; with the warnings. */
export function parse(body: object, options = {}) {
  const { warnings } = contexts(responsesTranslator, { ...ours, ...options })
  const { client, ...request } = responsesTranslator.parseRequest({ model: 'm', input: 'a', ...body }, { warnings })
  return { ...request, client, warnings: warnings.list() }
}

/** The item of a function call. */
export const call = (id: string, fields = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: '{}',
  ...fields,
})

/** The item of a function's output; without an id when there is none. */
export const result = (id: string | undefined, output: unknown = 'r') => ({
  type: 'function_call_output',
  ...(id && { call_id: id }),
  output,
})
