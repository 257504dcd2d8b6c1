import { render } from 'preact'
import { App } from './app.tsx'
import { takeTokenFromAddress } from './session.ts'

takeTokenFromAddress() // before anything else can read the address
const root = document.getElementById('app')
if (root) render(<App />, root)
