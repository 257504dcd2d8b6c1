import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from './streams.ts'

/** Parses a Responses request, with the input `a` unless the body has its own, and returns it with the warnings. */
export function parse(body: object, options = {}) {
  const { warnings } = contexts(responsesTranslator, { ...ours, ...options })
  const { client, ...request } = responsesTranslator.parseRequest({ model: 'm', input: 'a', ...body }, { warnings })
  return { ...request, client, warnings: warnings.list() }
}

/** Creates a function call item. */
export const call = (id: string, fields = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: '{}',
  ...fields,
})

/** Creates a function output item; the ID is optional. */
export const result = (id: string | undefined, output: unknown = 'r') => ({
  type: 'function_call_output',
  ...(id && { call_id: id }),
  output,
})
