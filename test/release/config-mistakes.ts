/**
 * A program that configures a gateway in code. Each mistake follows a comment that expects an error on the next line. There must be no other errors.
 */
export const CONFIG_CONSUMER = `import { createGateway, type CredentialSource } from 'signalbox'

const fromVault: CredentialSource = async ({ connectionId, account, reason, signal }) => {
  const asked: [string, string | undefined, 'first' | 'expired' | 'rejected', boolean] = [connectionId, account, reason, signal.aborted]
  return { apiKey: asked.join(), expiresAt: 1 }
}

const models = ['openai/gpt-5.5', 'smart'] as const
const names: string[] = ['openai/gpt-5.5']

export const valid = createGateway({
  connections: {
    openai: { apiKey: 'k' },
    anthropic: { apiKey: fromVault },
    google: { apiKey: { resolve: fromVault, shared: true } },
    groq: { apiKey: ({ region }) => (region === undefined ? undefined : { accessToken: region }) },
    'my-server': { provider: 'a-provider-of-my-own', baseUrl: 'http://localhost:8000/v1', enabledModels: ['m'] },
  },
  combos: {
    smart: ['openai/gpt-5.5', 'my-server/m', { model: 'anthropic/claude-sonnet-5-5', weight: 2 }],
    spread: { strategy: 'round-robin', models: ['openai/gpt-5.5'] },
    constant: models,
    listed: names,
    absent: undefined,
  },
  aliases: { chat: 'smart' },
  models: { 'my-server/m': { type: 'embedding' }, 'my-server/n': 'image' },
  settings: { requireApiKey: true },
  fetch: async (url, init) => {
    const [sent, method]: [string, string | undefined] = [url, init?.method]
    return new Response(sent + method)
  },
  hooks: { onError: (error) => void error },
})
export const platform = createGateway({ fetch })

createGateway({
  connections: {
    openai: {
      // @ts-expect-error a misspelled field
      apikey: 'k',
    },
    'my-server': {
      baseUrl: 'http://localhost:8000/v1',
      // @ts-expect-error a misspelled field of a connection that the types don't know
      enabledModel: ['m'],
    },
    groq: {
      // @ts-expect-error a function that returns a number
      apiKey: () => 7,
    },
    mistral: {
      // @ts-expect-error a function that resolves to another object
      apiKey: async () => ({ key: 'k' }),
    },
    anthropic: {
      // @ts-expect-error a credential that is neither text nor a function
      apiKey: 7,
    },
    google: {
      providerSpecificData: {
        // @ts-expect-error a misspelled field inside
        regoin: 'eu',
      },
    },
  },
})

createGateway({
  combos: {
    smart: {
      // @ts-expect-error a strategy that there is not
      strategy: 'round-robbin',
      models: ['openai/gpt-5.5'],
    },
    other: {
      models: ['openai/gpt-5.5'],
      // @ts-expect-error a misspelled field
      stratgy: 'fallback',
    },
    numbers: [
      // @ts-expect-error an entry that is no model
      7,
    ],
    // @ts-expect-error a model that is not in a list
    single: 'openai/gpt-5.5',
    weighted: [
      {
        model: 'openai/gpt-5.5',
        // @ts-expect-error a weight in words
        weight: 'two',
      },
    ],
  },
  aliases: {
    // @ts-expect-error an alias of several models
    chat: ['openai/gpt-5.5'],
  },
  models: {
    // @ts-expect-error a type that there is not
    'my-server/a': 'embeddings',
    'my-server/b': {
      // @ts-expect-error a type that there is not
      type: 'embeddings',
    },
    // @ts-expect-error a model that is a number
    'my-server/c': 7,
  },
  groups: {
    team: {
      // @ts-expect-error a misspelled field
      limit: { usd: { month: 5 } },
    },
    // @ts-expect-error a group that is no object
    other: 'Team',
  },
  plans: {
    free: {
      each: {
        // @ts-expect-error an amount without a window
        usd: 5,
      },
    },
  },
  settings: {
    // @ts-expect-error a setting with a value of another type
    requireApiKey: 'yes',
  },
})

createGateway({
  combos: {
    judged: { models: ['openai/gpt-5.5'], on: ['schema', ({ text, usage }, { header }, { signal }) => text === header('x') || signal.aborted || !usage] },
    wrong: {
      models: ['openai/gpt-5.5'],
      on: [
        // @ts-expect-error a condition that there is not
        'refusal',
        // @ts-expect-error a function that returns text
        ({ text }) => text,
      ],
    },
  },
  groups: { team: { limits: { requests: { day: 20 } }, models: ['judged'] } },
  plans: { free: { each: { usd: { month: 1 } }, require: { zdr: true } }, none: undefined },
  route({ model }, { candidates }) {
    if (model === 'a') return 'openai/gpt-5.5'
    if (model === 'b') return ['openai/gpt-5.5', { model: 'judged', params: { seed: 1 } }]
    if (model === 'c') return { models: ['judged'], strategy: 'least-cost' }
    return candidates()[0]?.name
  },
})

createGateway({
  // @ts-expect-error a model that is a number
  route: () => 7,
})

createGateway({
  // @ts-expect-error a strategy that there is not
  route: () => ({ models: ['openai/gpt-5.5'], strategy: 'cheapest' }),
})
`
