import { assert } from '../support/suite.ts'
import { importedLiteLlm, importSuite, lab, litellmConfig } from './imported.ts'

const test = importSuite('importing prices from LiteLLM')

test('uses catalog prices, and reports models without a price if a budget is set', async ({ folder }) => {
  const azure = (deployment: string) => ({
    model: `azure/${deployment}`,
    api_base: 'https://one.openai.azure.com',
    api_key: 'os.environ/AZURE_API_KEY',
  })
  const { api, output } = await importedLiteLlm(
    folder,
    litellmConfig(
      [
        ['named', azure('gpt-4o')],
        ['based', azure('mine'), { model_info: { base_model: 'azure/gpt-4o-mini' } }],
        ['own', azure('paid'), { model_info: { base_model: 'azure/gpt-4o', input_cost_per_token: 0.000001 } }],
        ['other', azure('other'), { model_info: { base_model: 'azure/eu/nothing' } }],
        ['unknown', lab('gpt-4o')],
        ['plain', { model: 'openai/gpt-4o' }],
      ],
      { litellm_settings: { max_budget: 10 } },
    ),
  )
  const { connections } = await api.connections.list()
  assert.equal(connections.find(({ id }) => id === 'azure')?.prices, {
    'gpt-4o': { input: 2.5, output: 10, cacheRead: 1.25 },
    mine: { input: 0.15, output: 0.6, cacheRead: 0.075 },
    paid: { input: 1 },
  })
  assert.match(output, /model_list\[1\]: price -> the catalog price of openai\/gpt-4o-mini$/m)
  assert.match(
    output,
    /max_budget: other, unknown -> These models, or some of their deployments, have no known price\./,
  )
})

test('converts prices for long inputs to price tiers', async ({ folder }) => {
  const { api, output } = await importedLiteLlm(
    folder,
    litellmConfig([
      [
        'long',
        lab('long'),
        {
          model_info: {
            ...{ input_cost_per_token: 0.00000125, output_cost_per_token: 0.00001 },
            ...{ cache_read_input_token_cost: 1.25e-7, cache_read_input_token_cost_above_200k_tokens: 2.5e-7 },
            ...{ output_cost_per_token_above_200k_tokens: 0.000015, input_cost_per_token_above_128k_tokens: 2e-6 },
            input_cost_per_token_above_200k_tokens: 0.0000025,
            input_cost_per_token_above_200k_tokens_priority: 9,
          },
        },
      ],
    ]),
  )
  const { connections } = await api.connections.list()
  assert.equal(connections[0]?.prices?.long, {
    ...{ input: 1.25, output: 10, cacheRead: 0.125 },
    tiers: [
      { above: 128_000, input: 2 },
      { above: 200_000, input: 2.5, output: 15, cacheRead: 0.25 },
    ],
  })
  assert.not.match(output, /above_200k_tokens ->/)
  assert.match(output, /above_200k_tokens_priority/)
})

test('converts tiered_pricing ranges to one tiered price', async ({ folder }) => {
  const { api, output } = await importedLiteLlm(
    folder,
    litellmConfig([
      [
        'qwen',
        lab('qwen'),
        {
          model_info: {
            output_cost_per_token: 0.000004,
            tiered_pricing: [
              { range: [32_000, 128_000], input_cost_per_token: 0.0000012, output_cost_per_token: 0.000006 },
              { range: [0, 32_000], input_cost_per_token: 4e-7, cache_read_input_token_cost: 4e-8 },
              { range: [128_000, null], input_cost_per_token: '2.4e-6', output_cost_per_token: 0.000012 },
              'nothing',
            ],
          },
        },
      ],
      ['unread', lab('unread'), { model_info: { input_cost_per_token: 1e-6, tiered_pricing: 'by length' } }],
    ]),
  )
  const { connections } = await api.connections.list()
  assert.equal(connections[0]?.prices, {
    qwen: {
      ...{ input: 0.4, output: 4, cacheRead: 0.04 },
      tiers: [
        { above: 32_000, input: 1.2, output: 6 },
        { above: 128_000, input: 2.4, output: 12 },
      ],
    },
    unread: { input: 1 },
  })
  assert.match(output, /model_list\[1\].*tiered_pricing/)
  assert.not.match(output, /model_list\[0\].*tiered_pricing/)
})
