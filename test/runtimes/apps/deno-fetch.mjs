import { openGateway } from './gateway.mjs'

const { addr } = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, openGateway().fetch)
console.log(`http://127.0.0.1:${addr.port}`)
