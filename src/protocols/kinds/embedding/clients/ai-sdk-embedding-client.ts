import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { dropUnreadGatewayOptions, writeResponseFields } from '../../ai-sdk-kinds.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import { type EmbeddingRequest, type EmbeddingResponse, parseDimensions, parseTask } from '../embedding.ts'
import { toFloats } from '../vectors.ts'

/**
 * The AI SDK's gateway protocol: `values` in, `embeddings` out. The providers' options contain the task and the vector length, each under the
 * provider's own names.
 */
export const aiSdk: ClientAdapter<EmbeddingRequest, EmbeddingResponse> = {
  fieldNames: { inputs: 'values', task: 'providerOptions' },
  read(body, { warnings }) {
    const { values } = body
    if (!isStringArray(values)) return warnings.reject('inputs', 'must be a non-empty array of strings')
    const request: EmbeddingRequest = { inputs: values.map((text) => ({ text })), encoding: 'float' }
    const options = getProviderOptions(body.providerOptions)
    const dimensions = parseDimensions(body.dimensions ?? findFirstOption(options, DIMENSION_OPTIONS), warnings)
    if (dimensions !== undefined) request.dimensions = dimensions
    const taskName = findFirstOption(options, TASK_OPTIONS)
    const task = parseTask(taskName)
    if (task) request.task = task
    else if (typeof taskName === 'string') request.unknownTask = taskName
    const user = findFirstOption(options, ['user'])
    if (typeof user === 'string') request.user = user
    for (const [provider, response] of Object.entries(isObject(body.providerOptions) ? body.providerOptions : {}))
      for (const name of isObject(response) && !GATEWAY_NAMES.has(provider) ? Object.keys(response) : [])
        if (!KNOWN_OPTIONS.has(name)) warnings.recordDrop(`providerOptions.${provider}.${name}`)
    dropUnreadGatewayOptions(body, warnings, KNOWN_OPTIONS)
    return request
  },
  write: ({ vectors, usage }, context) => ({
    embeddings: vectors.map(toFloats),
    ...writeResponseFields(context, usage),
    ...(usage && { usage: { tokens: usage.inputTokens } }),
  }),
}

const DIMENSION_OPTIONS = ['dimensions', 'outputDimensionality', 'outputDimension']
const TASK_OPTIONS = ['taskType', 'inputType']
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([...DIMENSION_OPTIONS, ...TASK_OPTIONS, 'user'])
const GATEWAY_NAMES: ReadonlySet<string> = new Set(['signalbox', 'gateway'])

const getProviderOptions = (options: unknown): JsonObject[] =>
  isObject(options) ? Object.values(options).filter(isObject) : []

const findFirstOption = (options: readonly JsonObject[], names: readonly string[]): unknown =>
  options.flatMap((option) => names.map((name) => option[name])).find((value) => value !== undefined && value !== null)

const isStringArray = (values: unknown): values is string[] =>
  Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string')
