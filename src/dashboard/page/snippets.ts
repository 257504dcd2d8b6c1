/** A client as a snippet makes it. */
interface Connected {
  /** The address of the gateway, without a trailing slash. */
  url: string
  /** The value of a key, or the code that has it. */
  key: string
}

const program =
  (name: string, from: string, options: (connected: Connected) => string) =>
  (connected: Connected): string =>
    `import ${name} from '${from}'\n\nconst client = new ${name.replace(/\W/g, '')}({ ${options(connected)} })\nconst answer = await client.`

/** The beginnings of programs with SDKs, up to the method that is called. Their `key` is an expression. */
export const programs = {
  openai: program('OpenAI', 'openai', ({ url, key }) => `baseURL: '${url}/v1', apiKey: ${key}`),
  anthropic: program('Anthropic', '@anthropic-ai/sdk', ({ url, key }) => `baseURL: '${url}', apiKey: ${key}`),
  google: program(
    '{ GoogleGenAI }',
    '@google/genai',
    ({ url, key }) => `apiKey: ${key}, httpOptions: { baseUrl: '${url}' }`,
  ),
}

/** A request with curl; `key` may be a variable of the shell. */
export const curl = ({ url, key }: Connected, path: string, body: object): string =>
  `curl -N ${quoted(url + path)} \\\n  -H "authorization: Bearer ${key}" \\\n  -H 'content-type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const messages = [{ role: 'user', content: 'Hello' }]

/** Examples of how clients use a key. */
export const snippets: ReadonlyArray<{ name: string; code: (connected: Connected, model: string) => string }> = [
  { name: 'curl', code: (connected, model) => curl(connected, '/v1/chat/completions', { model, messages }) },
  {
    name: 'OpenAI, JavaScript',
    code: ({ url, key }, model) =>
      `${programs.openai({ url, key: `'${key}'` })}chat.completions.create({\n  model: '${model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n})\nconsole.log(answer.choices[0].message.content)`,
  },
  {
    name: 'OpenAI, Python',
    code: ({ url, key }, model) =>
      `from openai import OpenAI\n\nclient = OpenAI(base_url="${url}/v1", api_key="${key}")\nanswer = client.chat.completions.create(\n    model="${model}", messages=[{"role": "user", "content": "Hello"}]\n)\nprint(answer.choices[0].message.content)`,
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
