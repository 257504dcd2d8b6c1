import { addWrongSecretTest, testExample, testMissingVariables } from './scenario.ts'

/** The examples that serve a gateway on its own port, one per runtime. */
for (const name of ['node', 'bun', 'deno']) {
  addWrongSecretTest(testExample(name, () => ({ address: '127.0.0.1:4000' })))
  testMissingVariables(name, ['SIGNALBOX_SECRET', 'SIGNALBOX_ADMIN_TOKEN', 'APP_KEY', 'OPENAI_API_KEY'])
}
