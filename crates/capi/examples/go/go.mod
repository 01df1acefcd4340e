module weir.example/fetch

go 1.21
