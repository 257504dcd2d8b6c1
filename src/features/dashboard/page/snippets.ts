/** How a snippet connects to the gateway. */
interface GatewayAccess {
  /** The gateway's URL without a trailing slash. */
  url: string
  /** An API key, or an expression that evaluates to one. */
  key: string
}

const createProgram =
  (exportName: string, packageName: string, createOptions: (access: GatewayAccess) => string) =>
  (access: GatewayAccess): string =>
    `import ${exportName} from '${packageName}'\n\nconst client = new ${exportName.replace(/\W/g, '')}({ ${createOptions(access)} })\nconst response = await client.`

/** The start of a program for each SDK, up to the method call. `key` is an expression. */
export const programs = {
  openai: createProgram('OpenAI', 'openai', ({ url, key }) => `baseURL: '${url}/v1', apiKey: ${key}`),
  anthropic: createProgram('Anthropic', '@anthropic-ai/sdk', ({ url, key }) => `baseURL: '${url}', apiKey: ${key}`),
  google: createProgram(
    '{ GoogleGenAI }',
    '@google/genai',
    ({ url, key }) => `apiKey: ${key}, httpOptions: { baseUrl: '${url}' }`,
  ),
}

/** Formats a curl command. `key` may be a shell variable. */
export const curl = ({ url, key }: GatewayAccess, path: string, body: object): string =>
  `curl -N ${quote(url + path)} \\\n  -H "authorization: Bearer ${key}" \\\n  -H 'content-type: application/json' \\\n  -d ${quote(JSON.stringify(body))}`

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const messages = [{ role: 'user', content: 'Hello' }]

/** Code examples for using a key. */
export const snippets: ReadonlyArray<{ name: string; code: (access: GatewayAccess, model: string) => string }> = [
  { name: 'curl', code: (access, model) => curl(access, '/v1/chat/completions', { model, messages }) },
  {
    name: 'OpenAI, JavaScript',
    code: ({ url, key }, model) =>
      `${programs.openai({ url, key: `'${key}'` })}chat.completions.create({\n  model: '${model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n})\nconsole.log(response.choices[0].message.content)`,
  },
  {
    name: 'OpenAI, Python',
    code: ({ url, key }, model) =>
      `from openai import OpenAI\n\nclient = OpenAI(base_url="${url}/v1", api_key="${key}")\nresponse = client.chat.completions.create(\n    model="${model}", messages=[{"role": "user", "content": "Hello"}]\n)\nprint(response.choices[0].message.content)`,
  },
  {
    name: 'Anthropic',
    code: ({ url, key }, model) =>
      `${programs.anthropic({ url, key: `'${key}'` })}messages.create({\n  model: '${model}',\n  max_tokens: 1024,\n  messages: [{ role: 'user', content: 'Hello' }],\n})`,
  },
  {
    name: 'Google',
    code: ({ url, key }, model) =>
      `${programs.google({ url, key: `'${key}'` })}models.generateContent({ model: '${model}', contents: 'Hello' })`,
  },
  {
    name: 'Claude Code',
    code: ({ url, key }, model) =>
      `export ANTHROPIC_BASE_URL=${url}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nexport ANTHROPIC_MODEL=${model}\nclaude`,
  },
  {
    name: 'Codex',
    code: ({ url, key }, model) =>
      `# ~/.codex/config.toml\nmodel = "${model}"\nmodel_provider = "signalbox"\n\n[model_providers.signalbox]\nname = "Signalbox"\nbase_url = "${url}/v1"\nenv_key = "SIGNALBOX_KEY"\nwire_api = "responses"\n\n# then: export SIGNALBOX_KEY=${key}`,
  },
]
