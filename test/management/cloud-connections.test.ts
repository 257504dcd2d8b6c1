import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('cloud provider connections')

const azure = { provider: 'azure', apiKey: 'azure-key-0123456789' }

const vertex = { provider: 'vertex', apiKey: 'ya29.a0AfB_byExample' }

/** A key file with an invalid key. */
const keyFile = {
  type: 'service_account',
  project_id: 'mine',
  private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
  client_email: 'me@mine.iam.gserviceaccount.com',
}

const bedrock = { provider: 'bedrock', apiKey: 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl' }

/** Rejected inputs and their messages. */
const rejected: [input: object, error: string | RegExp][] = [
  [azure, /^Azure OpenAI needs "providerSpecificData.resource" \(the name in https:/],
  [
    { ...azure, providerSpecificData: { resource: 'https://mine.openai.azure.com' } },
    '"providerSpecificData.resource" must be only the name, not the URL',
  ],
  [
    { ...azure, providerSpecificData: { resource: 'mine', apiVersion: '2024-10-21&a=b' } },
    '"providerSpecificData.apiVersion" must be a version such as "2024-10-21"',
  ],
  [
    { ...azure, providerSpecificData: { resource: 'mine', deployment: '../other' } },
    '"providerSpecificData.deployment" must be a deployment name',
  ],
  [
    { ...azure, providerSpecificData: { resource: 'mine', format: 'gemini' } },
    'Azure OpenAI only supports the formats "openai-chat" and "openai-responses".',
  ],
  [
    { provider: 'openai', providerSpecificData: { resource: 'mine' } },
    '"providerSpecificData.resource" has no effect for "openai"; omit it',
  ],
  [bedrock, 'Bedrock needs "providerSpecificData.region", such as "us-east-1".'],
  [
    { ...bedrock, providerSpecificData: { region: 'x.evil.test/' } },
    '"providerSpecificData.region" must be a region such as "us-east-1"',
  ],
  [
    { ...bedrock, apiKey: 'AKIAIOSFODNN7EXAMPLE', providerSpecificData: { region: 'us-east-1' } },
    /^Give AWS access keys as "<access key id>:<secret access key>"/,
  ],
  [
    { ...bedrock, providerSpecificData: { region: 'us-east-1', format: 'openai-chat' } },
    'Bedrock is called through the Converse API. Remove "providerSpecificData.format".',
  ],
  [vertex, /^Vertex AI needs "providerSpecificData.project" \(a Google Cloud project ID\)/],
  [
    { ...vertex, providerSpecificData: { project: 'a/../b' } },
    '"providerSpecificData.project" must be a project ID such as "my-project"',
  ],
  [
    {
      ...vertex,
      apiKey: JSON.stringify({ ...keyFile, private_key: 'none' }),
      providerSpecificData: { project: 'mine' },
    },
    'If "apiKey" is JSON, it must be a service account key file.',
  ],
  ...['/etc/keys/vertex.json', './vertex.json', '~/vertex.json', 'C:\\keys\\vertex.json', 'keys/vertex.JSON'].map(
    (apiKey): [object, string] => [
      { ...vertex, apiKey, providerSpecificData: { project: 'mine' } },
      '"apiKey" is a file path. Set it to the contents of the key file instead.',
    ],
  ),
  [
    { ...vertex, apiKey: JSON.stringify({ ...keyFile, project_id: undefined }) },
    /^Vertex AI needs "providerSpecificData.project"/,
  ],
  [
    { ...vertex, providerSpecificData: { project: 'mine', format: 'gemini' } },
    'Vertex AI is called in each model\'s own format. Remove "providerSpecificData.format".',
  ],
  [
    { ...bedrock, providerSpecificData: { region: 'us-east-1', project: 'mine' } },
    '"providerSpecificData.project" has no effect for "bedrock"; omit it',
  ],
  [{ provider: 'openai', apiKey: '{"a": 1}' }, '"apiKey" must be the bare key; "openai" does not accept JSON'],
  [{ provider: 'openai', apiKey: '{a' }, '"apiKey" looks like JSON but is not valid JSON'],
]

for (const [input, error] of rejected) {
  test(`a cloud connection rejects ${JSON.stringify(input)}`, async () => {
    const { expect } = openManagement()
    const response = await expect(400, 'POST', '/api/connections', input)
    if (typeof error === 'string') assert.is(response.error, error)
    else assert.match(response.error, error)
  })
}

const accepted: object[] = [
  { ...vertex, providerSpecificData: { project: 'mine', region: 'europe-west4' } },
  { ...vertex, apiKey: 'AIzaSyExample0123456789', providerSpecificData: {} },
  { ...vertex, apiKey: JSON.stringify(keyFile, null, 2), providerSpecificData: {} },
  { ...bedrock, providerSpecificData: { region: 'us-east-1' } },
  {
    ...bedrock,
    apiKey: 'ASIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY:IQoJb3JpZ2lu==',
    providerSpecificData: { region: 'us-gov-west-1' },
  },
  { ...azure, providerSpecificData: { resource: 'mine' } },
  { ...azure, providerSpecificData: { resource: 'mine', apiVersion: '2024-10-21', deployment: 'gpt_4.1-mini' } },
  { ...azure, providerSpecificData: { baseUrl: 'https://mine.services.ai.azure.com/openai/v1/' } },
]

for (const input of accepted) {
  test(`a cloud connection accepts ${JSON.stringify(input)}`, async () => {
    const { expect } = openManagement()
    const { apiKey, providerSpecificData } = await expect(201, 'POST', '/api/connections', input)
    assert.is(apiKey, `…${JSON.parse(JSON.stringify(input)).apiKey.slice(-4)}`)
    assert.equal({ ...input, providerSpecificData }, input)
  })
}

test('a change to a cloud connection must be consistent with its other settings', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/connections', { ...azure, providerSpecificData: { resource: 'mine' } })
  const path = `/api/connections/${id}`
  await expect(200, 'PUT', path, { apiKey: 'another-key-0123456789' })
  await expect(200, 'PUT', path, { name: 'Work', apiKey: null })
  const response = await expect(400, 'PUT', path, { providerSpecificData: null })
  assert.match(response.error, /needs "providerSpecificData.resource"/)
  const unfit = '"apiKey" must be the bare key; "azure" does not accept JSON'
  await expectError(400, unfit, ['PUT', path, { apiKey: '{"type":"service_account"}' }])
})
