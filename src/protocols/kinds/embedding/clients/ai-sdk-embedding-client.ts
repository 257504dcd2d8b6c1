import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { writeFacts } from '../../ai-sdk-kinds.ts'
import type { ClientForm } from '../../kind-forms.ts'
import { type EmbeddingRequest, type EmbeddingResponse, parseTask, parseWidth } from '../embedding.ts'
import { toFloats } from '../vectors.ts'

/**
 * The AI SDK's gateway protocol: `values` in, `embeddings` out. The task and the vector length are in the providers' options, under each provider's
 * own names.
 */
export const aiSdk: ClientForm<EmbeddingRequest, EmbeddingResponse> = {
  fieldNames: { inputs: 'values', task: 'providerOptions' },
  read(body, { warnings }) {
    const { values } = body
    if (!isStringArray(values)) return warnings.reject('inputs', 'must be a non-empty array of strings')
    const request: EmbeddingRequest = { inputs: values.map((text) => ({ text })), encoding: 'float' }
    const options = getProviderOptions(body.providerOptions)
    const dimensions = parseWidth(body.dimensions ?? findFirst(options, WIDTHS), warnings)
    if (dimensions !== undefined) request.dimensions = dimensions
    const purpose = findFirst(options, PURPOSES)
    const task = parseTask(purpose)
    if (task) request.task = task
    else if (typeof purpose === 'string') request.otherTask = purpose
    const user = findFirst(options, ['user'])
    if (typeof user === 'string') request.user = user
    for (const [provider, response] of Object.entries(isObject(body.providerOptions) ? body.providerOptions : {}))
      for (const name of isObject(response) && !OWN.has(provider) ? Object.keys(response) : [])
        if (!READ.has(name)) warnings.noteDropped(`providerOptions.${provider}.${name}`)
    return request
  },
  write: ({ vectors, usage }, context) => ({
    embeddings: vectors.map(toFloats),
    ...writeFacts(context, usage),
    ...(usage && { usage: { tokens: usage.inputTokens } }),
  }),
}

const WIDTHS = ['dimensions', 'outputDimensionality', 'outputDimension']
const PURPOSES = ['taskType', 'inputType']
const READ: ReadonlySet<string> = new Set([...WIDTHS, ...PURPOSES, 'user'])
const OWN: ReadonlySet<string> = new Set(['signalbox', 'gateway'])

const getProviderOptions = (options: unknown): JsonObject[] =>
  isObject(options) ? Object.values(options).filter(isObject) : []

const findFirst = (options: readonly JsonObject[], names: readonly string[]): unknown =>
  options.flatMap((one) => names.map((name) => one[name])).find((value) => value !== undefined && value !== null)

const isStringArray = (values: unknown): values is string[] =>
  Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string')
