/*
 * One conversation for all formats: a question, two calls of one tool beside each other, and an answer made of both results. How each
 * provider says its part of it is in `providers/`, how each client leads it in `clients/`.
 */

export const QUESTION = 'How warm is it in Paris and in Oslo?'
export const THOUGHT = 'Two cities, two calls.'
export const ANSWER = ['It is 21 °C in Paris', ' and 9 °C in Oslo.'] as const

export const weather = {
  name: 'get_weather',
  description: 'Tells how warm it is in a city.',
  schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false as const,
  },
}

/** The calls as the model makes them. */
export const CITIES = ['Paris', 'Oslo'] as const

export const weatherIn = (city: unknown) => ({ city, celsius: city === 'Paris' ? 21 : 9 })

/** What only the provider understands, and wants to see again beside its calls. */
export const SIGNATURE = 'c2lnbmVkIGJ5IGl0cyBtYWtlcg=='

/** What a client makes of the conversation, in the words of all. */
export interface Heard {
  /** The calls that it was asked to run, in their order. */
  calls: { name: string; city: unknown }[]
  text: string
  /** The tokens of the last answer. */
  inputTokens: number | undefined
  outputTokens: number | undefined
}

export const EXPECTED: Heard = {
  calls: CITIES.map((city) => ({ name: weather.name, city })),
  text: ANSWER.join(''),
  inputTokens: 50,
  outputTokens: 12,
}
