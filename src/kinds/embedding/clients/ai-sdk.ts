import { isObject, type JsonObject } from '../../../lib/json.ts'
import { factsOf } from '../../ai-sdk.ts'
import type { ClientForm } from '../../forms.ts'
import { type Embed, type Embedded, taskMeant } from '../embedding.ts'
import { asFloats } from '../vectors.ts'

/**
 * The form of the AI SDK's gateway protocol: `values` in, `embeddings` out. Options of its providers say what the vectors are for and how wide
 * they are to be, under the names that the providers have for that.
 */
export const aiSdk: ClientForm<Embed, Embedded> = {
  fieldNames: { inputs: 'values', task: 'providerOptions' },
  read(body, { warnings }) {
    const { values } = body
    if (!isTexts(values)) return warnings.refuse('inputs', 'it must be a list of texts that is not empty')
    const asked: Embed = { inputs: values.map((text) => ({ text })), encoding: 'float' }
    const options = optionsIn(body.providerOptions)
    const dimensions = body.dimensions ?? first(options, WIDTHS)
    if (dimensions !== undefined) {
      if (typeof dimensions !== 'number') return warnings.refuse('dimensions', 'it must be a whole number')
      asked.dimensions = dimensions
    }
    const purpose = first(options, PURPOSES)
    const task = taskMeant(purpose)
    if (task) asked.task = task
    else if (typeof purpose === 'string') asked.otherTask = purpose
    const user = first(options, ['user'])
    if (typeof user === 'string') asked.user = user
    for (const [provider, given] of Object.entries(isObject(body.providerOptions) ? body.providerOptions : {}))
      for (const name of isObject(given) && !OWN.has(provider) ? Object.keys(given) : [])
        if (!READ.has(name)) warnings.noteDropped(`providerOptions.${provider}.${name}`)
    return asked
  },
  write: ({ vectors, usage }, terms) => ({
    embeddings: vectors.map(asFloats),
    ...factsOf(terms, usage),
    ...(usage && { usage: { tokens: usage.inputTokens } }),
  }),
}

const WIDTHS = ['dimensions', 'outputDimensionality', 'outputDimension']
const PURPOSES = ['taskType', 'inputType']
const READ: ReadonlySet<string> = new Set([...WIDTHS, ...PURPOSES, 'user'])
const OWN: ReadonlySet<string> = new Set(['signalbox', 'gateway'])

/** The options of all providers together. */
const optionsIn = (options: unknown): JsonObject[] => (isObject(options) ? Object.values(options).filter(isObject) : [])

/** The first of these members that is given. */
const first = (options: readonly JsonObject[], names: readonly string[]): unknown =>
  options.flatMap((one) => names.map((name) => one[name])).find((value) => value !== undefined && value !== null)

const isTexts = (values: unknown): values is string[] =>
  Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string')
