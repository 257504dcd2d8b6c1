/*
 * Stubs out aws-lambda-ric's native addon. With the JavaScript runtime client (AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1), only functions without
 * response streaming need it.
 */
import Module from 'node:module'

const unused = (name) => () => {
  throw new Error(`the compiled ${name} was called`)
}
const compiled = { initializeClient() {}, next: unused('next'), done: unused('done'), error: unused('error') }
const load = Module._load
Module._load = (request, ...rest) => (request === './rapid-client.node' ? compiled : load(request, ...rest))
