export { AwsClient } from 'aws4fetch'
