export class UrlImport {}
