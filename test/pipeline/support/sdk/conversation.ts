/*
 * One conversation for all formats: a question, two parallel calls to one tool, and a response that uses both results. `providers/` contains each
 * provider's side of it; `clients/` contains each client's code to run it.
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

/** The arguments of the model's calls. */
export const CITIES = ['Paris', 'Oslo'] as const

export const getWeather = (city: unknown) => ({ city, celsius: city === 'Paris' ? 21 : 9 })

/** Data that only the provider understands, and that it expects to receive back with its calls. */
export const SIGNATURE = 'c2lnbmVkIGJ5IGl0cyBtYWtlcg=='

/** The conversation as a client understood it, in format-neutral terms. */
export interface Received {
  /** The requested tool calls, in order. */
  calls: { name: string; city: unknown }[]
  text: string
  /** The token usage of the last response. */
  inputTokens: number | undefined
  outputTokens: number | undefined
}

export const EXPECTED: Received = {
  calls: CITIES.map((city) => ({ name: weather.name, city })),
  text: ANSWER.join(''),
  inputTokens: 50,
  outputTokens: 12,
}
