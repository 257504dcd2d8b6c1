import type { Attributes } from './otel-api.ts'

/** The version of the OpenTelemetry GenAI conventions that determines attribute names. */
export type Conventions = 'latest' | '1.41' | 'both'

const oldAttributeNames: Readonly<Record<string, string>> = {
  'gen_ai.provider.name': 'gen_ai.system',
  'gen_ai.usage.cache_write.input_tokens': 'gen_ai.usage.cache_creation.input_tokens',
}

/** Renamed attributes whose latest names already existed in release 1.41. */
const UNCHANGED_ATTRIBUTES = new Set(['gen_ai.provider.name'])

/** Histograms from release 1.41 that were later split, by their latest names. `type` is the value of the token type label. */
export const previousMetrics: Readonly<Record<string, { name: string; type?: string }>> = {
  'gen_ai.client.inference.duration': { name: 'gen_ai.client.operation.duration' },
  'gen_ai.client.embeddings.duration': { name: 'gen_ai.client.operation.duration' },
  'gen_ai.client.inference.operation.input_tokens': { name: 'gen_ai.client.token.usage', type: 'input' },
  'gen_ai.client.inference.operation.output_tokens': { name: 'gen_ai.client.token.usage', type: 'output' },
}

/** Creates a function that renames span attributes. */
export function createAttributeRenamer(conventions: Conventions): (attributes: Attributes) => Attributes {
  if (conventions === 'latest') return (attributes) => attributes
  return (attributes) => {
    const renamedAttributes: Attributes = {}
    for (const [name, value] of Object.entries(attributes)) {
      const oldName = oldAttributeNames[name]
      if (oldName !== undefined) renamedAttributes[oldName] = value
      if (oldName === undefined || conventions === 'both' || UNCHANGED_ATTRIBUTES.has(name))
        renamedAttributes[name] = value
    }
    return renamedAttributes
  }
}
