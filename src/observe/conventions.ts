import type { Attributes } from './otel-api.ts'

/** Which names of the OpenTelemetry conventions for generative AI are written. */
export type Conventions = 'latest' | '1.41' | 'both'

/** Names that release 1.41 had, by the latest ones. */
const formerAttributes: Readonly<Record<string, string>> = {
  'gen_ai.provider.name': 'gen_ai.system',
  'gen_ai.usage.cache_write.input_tokens': 'gen_ai.usage.cache_creation.input_tokens',
}

/** Those of the latest names that release 1.41 had, too. */
const KEPT = new Set(['gen_ai.provider.name'])

/** Measures of release 1.41 that are one histogram now divided, by the latest names; `type`: the label that told the kinds of tokens apart. */
export const formerMetrics: Readonly<Record<string, { name: string; type?: string }>> = {
  'gen_ai.client.inference.duration': { name: 'gen_ai.client.operation.duration' },
  'gen_ai.client.embeddings.duration': { name: 'gen_ai.client.operation.duration' },
  'gen_ai.client.inference.operation.input_tokens': { name: 'gen_ai.client.token.usage', type: 'input' },
  'gen_ai.client.inference.operation.output_tokens': { name: 'gen_ai.client.token.usage', type: 'output' },
}

/** Renames the attributes of spans. */
export function conventionsOf(conventions: Conventions): (attributes: Attributes) => Attributes {
  if (conventions === 'latest') return (attributes) => attributes
  return (attributes) => {
    const renamed: Attributes = {}
    for (const [name, value] of Object.entries(attributes)) {
      const former = formerAttributes[name]
      if (former !== undefined) renamed[former] = value
      if (former === undefined || conventions === 'both' || KEPT.has(name)) renamed[name] = value
    }
    return renamed
  }
}
