export { Busboy } from '@fastify/busboy'
