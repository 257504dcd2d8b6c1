import { anthropicTranslator } from '../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { converseTranslator } from '../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { baseTraits } from '../../src/protocols/formats/canonical/base-traits.ts'
import { geminiTranslator } from '../../src/protocols/formats/gemini/gemini-translator.ts'
import { chatTranslator } from '../../src/protocols/formats/openai-chat/chat-translator.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { getTraits } from '../../src/protocols/providers/provider-traits.ts'
import { createTarget } from '../../src/protocols/providers/target.ts'
import type { ReasoningTraits, Traits } from '../../src/traits.ts'
import type { ProviderFormat, WireFormat } from '../../src/types.ts'
import { assert } from '../support/suite.ts'

const bases: Readonly<Record<ProviderFormat, Traits>> = {
  'openai-chat': chatTranslator.traits,
  'anthropic-messages': anthropicTranslator.traits,
  'openai-responses': baseTraits,
  gemini: geminiTranslator.traits,
  'bedrock-converse': converseTranslator.traits,
}

/** Returns the traits of `provider/model`, in `format` or else in the provider's own format. */
export function findTraits(name: string, format?: WireFormat): Traits {
  const slash = name.indexOf('/')
  const own = { id: 'c', provider: name.slice(0, slash), ...(format && { providerSpecificData: { format } }) }
  const target = createTarget(defaultCatalog, own, name.slice(slash + 1))
  return getTraits(bases[target.format], target, defaultCatalog)
}

/** Expected traits: exact values, options that must be in `lacks`, and options that must not be (`takes`). */
export type Expected = Partial<Omit<Traits, 'reasoning' | 'lacks'>> & {
  reasoning?: Partial<ReasoningTraits>
  lacks?: Traits['lacks']
  takes?: Traits['lacks']
}

/** Asserts that traits match the expected ones. */
export function hold(traits: Traits, { reasoning = {}, lacks = [], takes = [], ...fields }: Expected) {
  for (const [field, value] of Object.entries(fields)) assert.equal(traits[field as keyof Traits], value, field)
  for (const [field, value] of Object.entries(reasoning))
    assert.equal(traits.reasoning[field as keyof ReasoningTraits], value, `reasoning.${field}`)
  const findMissing = (names: Traits['lacks'], isIn: boolean) =>
    names.filter((name) => traits.lacks.includes(name) !== isIn)
  assert.equal(findMissing(lacks, true), [], 'must be in lacks')
  assert.equal(findMissing(takes, false), [], 'must not be in lacks')
}

/** The options that reasoning models often lack. */
export const SAMPLING = ['temperature', 'topP', 'topK'] as const
